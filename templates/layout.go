package templates

// noScript, as a page's refresh, says that it needs no script either.
const noScript = -1
