//go:build !unix

package doctor

// fileLimit is not known here.
func fileLimit() uint64 { return 0 }
