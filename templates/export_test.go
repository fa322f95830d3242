package templates

// Stamp is what a page of support writes for an instant.
var Stamp = stamp
