//go:build long

package lockredis_test

import "testing"

func TestOfFiftyAtOnceOneReservesAndTheOthersAreToldSo(t *testing.T) { oneReserves(t, 50) }
