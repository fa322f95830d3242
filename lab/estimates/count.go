package main

// counts is a Fenwick tree over tickets, from 1: the number of marked tickets up to one, and the n-th marked
// ticket.
type counts struct {
	tree []int
	all  int
	top  int // the highest power of two within the tree
}

func newCounts(size int) *counts {
	top := 1
	for top*2 <= size {
		top *= 2
	}
	return &counts{tree: make([]int, size+1), top: top}
}

func (c *counts) add(ticket, d int) {
	c.all += d
	for i := ticket; i < len(c.tree); i += i & -i {
		c.tree[i] += d
	}
}

// upTo returns the number of marked tickets up to and including one.
func (c *counts) upTo(ticket int) int {
	n := 0
	for i := ticket; i > 0; i &= i - 1 {
		n += c.tree[i]
	}
	return n
}

// first returns the lowest marked ticket; 0 = none.
func (c *counts) first() int {
	if c.all == 0 {
		return 0
	}
	i := 0
	for step := c.top; step > 0; step /= 2 {
		if i+step < len(c.tree) && c.tree[i+step] == 0 {
			i += step
		}
	}
	return i + 1
}
