package templates

// Stamp writes an instant as a page of support does.
var Stamp = stamp

// DeskActions are the filters of the audit.
var DeskActions = deskActions
