package ledger

import "github.com/waitroom/waitroom/internal/sqldb/dialect"

// rows reads the parameter $2 as rows.
func (w *work) rows() string { return w.Dialect.Rows("$2") }

// writeRows runs a statement on the room, $1, and the rows, $2.
func (w *work) writeRows(query string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	list, err := dialect.EncodeRows(rows)
	if err == nil {
		_, err = w.Exec(query, string(w.id), list)
	}
	return err
}

// eachRow is writeRows for a statement that answers with rows.
func (w *work) eachRow(read func(scan func(...any) error) error, query string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	list, err := dialect.EncodeRows(rows)
	if err == nil {
		err = w.Each(read, query, string(w.id), list)
	}
	return err
}
