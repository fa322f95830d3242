package templates

// Stamp formats a time as support's pages do.
var Stamp = stamp

// DeskActions are the filters of the audit.
var DeskActions = deskActions
