// Package similar compares names that people type or hear.
package similar

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// separators are left out of names: callers do not speak them on the telephone.
var separators = strings.NewReplacer(" ", "", "-", "", "_", "", ".", "", "/", "", ":", "")

// Fold returns a name without case, width and separators; one of nothing but separators keeps them.
func Fold(name string) string {
	folded := strings.ToLower(norm.NFKC.String(name))
	if bare := separators.Replace(folded); bare != "" {
		return bare
	}
	return folded
}

// Distance returns how many changed, added or dropped characters make b of a. Two that
// swapped places count as one.
func Distance(a, b string) int {
	last := distances([]rune(a), []rune(b))
	return last[len(last)-1]
}

// PrefixDistance returns the least distance of a to b or to any beginning of b.
func PrefixDistance(a, b string) int { return slices.Min(distances([]rune(a), []rune(b))) }

// distances returns the distance of a to each beginning of b, the shortest first.
func distances(a, b []rune) []int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			changed := last[j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			row[j] = min(row[j-1]+1, last[j]+1, changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last
}
