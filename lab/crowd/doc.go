// Package crowd simulates thousands of sellers in one small process: each has a socket (one goroutine, small
// buffers) and behaves as its seed says, and all that they receive goes into one Model per
// room, which knows where each must stand. Run is the whole of it; Dial and Model are there for
// benchmarks of their own.
package crowd
