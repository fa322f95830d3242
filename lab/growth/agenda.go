package main

// occasion is an event of the simulation at a time.
type occasion struct {
	at float64
	do func()
}

type agenda []occasion

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(occasion)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	o := (*a)[last]
	*a = (*a)[:last]
	return o
}
