// Package client takes a seller's turn in a waiting room for a program: it joins, waits for the lock, asks
// for the code that arrives by SMS, and gives the lock back.
//
//	turn, err := c.Join(ctx, "integration", "s-1")
//	err = turn.Wait(ctx)
//	code, err := turn.Code(ctx, client.From("15881234"), client.Ask(pressSendCode))
//	err = enter(code.Code)
//	err = turn.Done(ctx)
//
// Every call is repeated until the server answers or ctx ends, with a growing pause: replicas may be killed
// and connections cut. A repeat changes nothing, since the session names the place and each ask has a key of
// its own. The session is a secret: any program that has it can act for the place. A program that is
// killed goes on with the same place when it is started again: see [Keep].
//
// The package starts no goroutine that outlives a call.
package client
