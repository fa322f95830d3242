package mirror

import "slices"

// Line has the ranks of waiters, in order. Removing the head costs nothing, a join appends.
type Line []float64

// Position returns a waiter's position, 1 = next; ok is false if no waiter has that rank.
func (l Line) Position(rank float64) (p int, ok bool) {
	i, ok := slices.BinarySearch(l, rank)
	return i + 1, ok
}

// insert inserts a rank in order; it returns false if the rank is there already.
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

// remove removes a rank; it returns false if the rank is not there.
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

// Front returns the first n ranks, or fewer.
func (l Line) Front(n int) Line { return l[:min(n, len(l))] }
