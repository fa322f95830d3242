// Command cmd sends a crowd of sellers to waitroom and judges what each of them receives. It prints a
// line a second and a summary as JSON; its exit code is 1 if a rule was broken.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/waitroom/waitroom/lab/crowd"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program. It writes lines and errors to people, the summary to out.
func run(args []string, out, people io.Writer) int {
	cfg, summaryTo, err := parse(args, people)
	if err != nil {
		fmt.Fprintln(people, "crowd:", err)
		return 2
	}
	cfg.Every = func(l crowd.Line) { fmt.Fprintln(people, l) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second one ends it at once
	summary, err := crowd.Run(ctx, cfg)
	if err != nil {
		fmt.Fprintln(people, "crowd:", err)
		return 2
	}
	text, err := json.MarshalIndent(summary, "", "  ")
	if err == nil && summaryTo != "" {
		err = os.WriteFile(summaryTo, append(text, '\n'), 0o644)
	} else if err == nil {
		_, err = fmt.Fprintln(out, string(text))
	}
	if err != nil {
		fmt.Fprintln(people, "crowd:", err)
		return 2
	}
	if !summary.OK() {
		fmt.Fprintln(people, "crowd: rules were broken, see violations, or places could not be asked for, see "+
			"unaudited")
		return 1
	}
	return 0
}

func parse(args []string, people io.Writer) (cfg crowd.Config, summaryTo string, err error) {
	flags := flag.NewFlagSet("crowd", flag.ContinueOnError)
	flags.SetOutput(people)
	urls := flags.String("urls", "http://127.0.0.1:8080",
		"the replicas, with commas between; sessions move between them")
	rooms := flags.String("rooms", "integration=100", "who goes where: room=people, with commas between")
	mix := flags.String("mix", "impatient=5,sleeping=5,reloading=5,tabs=5",
		"how many of a hundred behave how; also forgetful")
	secretFile := flags.String("carrier-secret-file", "",
		"file with WAITROOM_SMS_WEBHOOK_SECRET; default the variable; none = no carrier, no seller asks")
	flags.DurationVar(&cfg.Duration, "for", 30*time.Second, "how long, at most 2h")
	flags.Uint64Var(&cfg.Seed, "seed", 1, "the same seed behaves the same")
	flags.Float64Var(&cfg.Arrivals, "arrivals", 500, "sellers that come each second, until all have come")
	flags.DurationVar(&cfg.Hold, "hold", time.Second, "how long a turn takes, half to one and a half of it")
	flags.DurationVar(&cfg.Rest, "rest", 2*time.Second, "from the end of a place to the next, likewise")
	flags.Float64Var(&cfg.Carrier.Rate, "sms-rate", 0, "messages a second at most; 0 = as they are asked for")
	flags.IntVar(&cfg.Carrier.Number, "sms-number", 0, "messages in all; 0 = no end")
	flags.DurationVar(&cfg.Carrier.Delay, "sms-delay", 0,
		"from asking to the message, likewise; default half of --hold")
	flags.BoolVar(&cfg.Rules.Open, "others", false,
		"others are in the rooms too, or support acts: order is not checked")
	flags.BoolVar(&cfg.Rules.AllowLost, "may-lose", false, "the store may lose data: a place may end as lost")
	flags.BoolVar(&cfg.Stay, "stay", false, "leave the places in the end, instead of giving them back")
	flags.BoolVar(&cfg.Anywhere, "anywhere", false, "talk to more than this machine's loopback")
	flags.StringVar(&summaryTo, "summary", "", "file for the summary, instead of standard output")
	if err := flags.Parse(args); err != nil {
		return cfg, "", err
	}
	if flags.NArg() > 0 {
		return cfg, "", fmt.Errorf("%q is not a flag", flags.Arg(0))
	}
	cfg.URLs = strings.Split(*urls, ",")
	if cfg.Rooms, err = crowd.ParseRooms(*rooms); err != nil {
		return cfg, "", err
	}
	if cfg.Mix, err = crowd.ParseMix(*mix); err != nil {
		return cfg, "", err
	}
	cfg.Carrier.Secret, err = secret(*secretFile)
	return cfg, summaryTo, err
}

// secret reads a secret from a file. It is never a flag's value, which other users of the machine can read.
func secret(file string) (string, error) {
	if file == "" {
		return os.Getenv("WAITROOM_SMS_WEBHOOK_SECRET"), nil
	}
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
}
