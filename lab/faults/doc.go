// Package faults injects faults into real processes while simulated sellers use them, records what
// clients observe, and checks the history against the rules of the contract. docs/faults.md says how to
// run it and how to read what it finds.
//
//	Plan    what is started, and the faults to inject
//	Run     one plan with one seed: the processes, the sellers, the history
//	Record  one call, frame, message or fault
//	Check   the rules; each Violation names one
package faults
