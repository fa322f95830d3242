package mirror

import "slices"

// Line holds the ranks of waiters, in order. Taking the head costs nothing, a join appends.
type Line []float64

// Position counts from 1 = next; ok is false when no waiter has that rank.
func (l Line) Position(rank float64) (p int, ok bool) {
	i, ok := slices.BinarySearch(l, rank)
	return i + 1, ok
}

// insert puts a rank in its place; false when it is there already.
func (l *Line) insert(rank float64) bool {
	if n := len(*l); n == 0 || (*l)[n-1] < rank {
		*l = append(*l, rank)
		return true
	}
	i, found := slices.BinarySearch(*l, rank)
	if found {
		return false
	}
	*l = slices.Insert(*l, i, rank)
	return true
}

// remove takes a rank out; false when it is not there.
func (l *Line) remove(rank float64) bool {
	i, found := slices.BinarySearch(*l, rank)
	switch {
	case !found:
		return false
	case i == 0:
		*l = (*l)[1:]
	default:
		*l = slices.Delete(*l, i, i+1)
	}
	return true
}

// Front are the first n ranks, or fewer.
func (l Line) Front(n int) Line { return l[:min(n, len(l))] }
