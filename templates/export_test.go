package templates

// Stamp is what a page of support writes for an instant.
var Stamp = stamp

// DeskActions are what the audit offers to look for.
var DeskActions = deskActions
