package crowd

// counts is a Fenwick tree over ticket numbers: it counts the members below a ticket in logarithmic time.
type counts struct {
	tree []int32 // 1-based; its length less one is a power of two
	in   []bool
}

// set adds a ticket to the set or removes it; n begins at 1.
func (c *counts) set(n int64, in bool) {
	for n >= int64(len(c.in)) {
		c.grow()
	}
	if c.in[n] == in {
		return
	}
	c.in[n] = in
	by := int32(1)
	if !in {
		by = -1
	}
	for ; n < int64(len(c.tree)); n += n & -n {
		c.tree[n] += by
	}
}

func (c *counts) has(n int64) bool { return n < int64(len(c.in)) && c.in[n] }

// upTo returns the number of members up to n.
func (c *counts) upTo(n int64) (sum int64) {
	if len(c.tree) == 0 {
		return 0
	}
	for n = min(n, int64(len(c.tree))-1); n > 0; n -= n & -n {
		sum += int64(c.tree[n])
	}
	return sum
}

// each calls f for the members below n.
func (c *counts) each(n int64, f func(int64)) {
	for i := int64(1); i < min(n, int64(len(c.in))); i++ {
		if c.in[i] {
			f(i)
		}
	}
}

func (c *counts) grow() {
	old := c.in
	size := max(2*(len(old)-1), 64)
	*c = counts{tree: make([]int32, size+1), in: make([]bool, size+1)}
	for n, in := range old {
		if in {
			c.set(int64(n), true)
		}
	}
}
