// Package faults does harm to real processes while simulated sellers use them, records all that anybody is
// observed, and judges the history by the rules of the contract. docs/faults.md says how to run it and how to
// read what it finds.
//
//	Plan    what is started, and the steps that do harm
//	Run     one plan with one seed: the processes, the crowd, the history
//	Record  one call, frame, message or fault
//	Check   the rules; each Violation names one
package faults
