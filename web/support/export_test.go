package support

// For the tests, which ask the handler of the whole site.
const (
	Cookie   = supportCookie
	RowLimit = rowLimit
	CSVPage  = csvPage
)

var (
	Actions    = actions
	Columns    = columns
	ExportPath = exportPath
	ParseTime  = parseTime
	StartOf    = startOf
	DayOf      = dayOf
)
