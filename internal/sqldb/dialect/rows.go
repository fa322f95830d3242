package dialect

import (
	"fmt"
	"iter"
	"strings"
)

// Rows are rows that a statement gets as parameters: a table v to it.
type Rows struct {
	columns []column
	values  []any
}

type column struct{ name, kind string }

// NewRows makes room for n rows of columns such as "room TEXT" and "fence BIGINT". These
// are all the types there are.
func NewRows(n int, columns ...string) *Rows {
	r := &Rows{columns: make([]column, len(columns)), values: make([]any, 0, n*len(columns))}
	for i, c := range columns {
		r.columns[i].name, r.columns[i].kind, _ = strings.Cut(c, " ")
	}
	return r
}

// Add adds a row, with an int64 or a string for each column. A nil or a nil pointer to one is NULL.
func (r *Rows) Add(values ...any) {
	for _, v := range values {
		switch p := v.(type) {
		case *int64:
			if v = nil; p != nil {
				v = *p
			}
		case *string:
			if v = nil; p != nil {
				v = *p
			}
		}
		r.values = append(r.values, v)
	}
}

// Len returns how many rows there are.
func (r *Rows) Len() int { return len(r.values) / len(r.columns) }

// mostRows is the most rows that SQLite gets at a time. It has a parameter for each of their values, and each
// number of rows is a statement of its own: so it gets powers of two.
const mostRows = 64

// Each yields the statements for one that reads the table v, in the rows' order. SQLite takes some rows at a
// time. args are the statement's other parameters, the first ones.
func (d Dialect) Each(rows *Rows, query string, args ...any) iter.Seq2[string, []any] {
	return func(yield func(string, []any) bool) {
		if d == Postgres && len(rows.values) > 0 {
			yield(rows.arrays(len(args)+1)+query, append(args[:len(args):len(args)], rows.transposed()...))
			return
		}
		n := mostRows
		for left := rows.values; len(left) > 0; {
			for n*len(rows.columns) > len(left) {
				n /= 2
			}
			some := n * len(rows.columns)
			if !yield(rows.list(len(args)+1, n)+query, append(args[:len(args):len(args)], left[:some]...)) {
				return
			}
			left = left[some:]
		}
	}
}

func (r *Rows) names() string {
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = c.name
	}
	return strings.Join(names, ", ")
}

// list returns the table v of n rows, whose parameters are numbered from first on.
func (r *Rows) list(first, n int) string {
	row := "(?" + strings.Repeat(", ?", len(r.columns)-1) + ")"
	rows := strings.Repeat(row+", ", n-1) + row
	return fmt.Sprintf("WITH v(%s) AS (VALUES (?%d%s) ", r.names(), first, rows[len("(?"):])
}

// arrays returns the table v of any number of rows: a parameter for each column.
func (r *Rows) arrays(first int) string {
	arrays := make([]string, len(r.columns))
	for i, c := range r.columns {
		arrays[i] = fmt.Sprintf("CAST($%d AS %s[])", first+i, c.kind)
	}
	return fmt.Sprintf("WITH v(%s) AS (SELECT * FROM unnest(%s)) ", r.names(), strings.Join(arrays, ", "))
}

// transposed returns the columns.
func (r *Rows) transposed() []any {
	columns := make([]any, len(r.columns))
	for i, c := range r.columns {
		if c.kind == "TEXT" {
			columns[i] = transpose[string](r, i)
		} else {
			columns[i] = transpose[int64](r, i)
		}
	}
	return columns
}

// transpose returns a column, of pointers where there is a NULL in it.
func transpose[T any](r *Rows, column int) any {
	list := make([]T, 0, r.Len())
	for i := column; i < len(r.values); i += len(r.columns) {
		v, ok := r.values[i].(T)
		if !ok {
			return transposeNulls[T](r, column)
		}
		list = append(list, v)
	}
	return list
}

func transposeNulls[T any](r *Rows, column int) []*T {
	list := make([]*T, 0, r.Len())
	for i := column; i < len(r.values); i += len(r.columns) {
		if v, ok := r.values[i].(T); ok {
			list = append(list, &v)
		} else {
			list = append(list, nil)
		}
	}
	return list
}

// Matching joins rows v with those of a table, t, that meet the condition. It looks into an index
// for each. PostgreSQL would rather read the whole table where it does not know its size yet;
// OFFSET 0 keeps it from that.
func (d Dialect) Matching(table, condition string) string {
	if d == Postgres {
		return ` FROM v CROSS JOIN LATERAL (SELECT * FROM ` + table + ` t WHERE ` + condition + ` OFFSET 0) t`
	}
	return ` FROM v CROSS JOIN ` + table + ` t WHERE ` + condition
}
