//go:build long

package lockredis_test

import "testing"

func TestOfFiftyAtOnceOneReservesAndTheOthersGetAnError(t *testing.T) { oneReserves(t, 50) }
