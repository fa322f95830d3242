package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"
)

// samplesFile is the file to which k6 writes every sample.
const samplesFile = "samples.csv"

// trends are drawn as median and 99th percentile of each second.
var trends = []string{"join_ms", "handoff_ms", "first_frame_ms", "back_ms", "code_ms"}

// counters are drawn as a rate, or as the difference of two since the start.
var counters = []string{"joined", "over", "handoffs", "sockets_opened", "sockets_closed", "frames", "retries",
	"two_holders", "overtaken", "lost_places"}

// series is a run, second by second.
type series struct {
	From     time.Time            `json:"from"`
	P50      map[string][]float64 `json:"p50"` // by trend; -1 = nothing in that second
	P99      map[string][]float64 `json:"p99"`
	Counts   map[string][]float64 `json:"counts"` // by counter
	Sockets  []float64            `json:"sockets"`
	Places   []float64            `json:"places"`
	Duration int                  `json:"seconds"`
}

// readSamples reads k6's samples line by line, since a long run has millions.
func readSamples(path string) (series, error) {
	f, err := os.Open(path)
	if err != nil {
		return series{}, err
	}
	defer func() { _ = f.Close() }()
	b := buckets{trends: map[string][][]float64{}, counts: map[string][]float64{}}
	rows := csv.NewReader(f)
	rows.ReuseRecord, rows.FieldsPerRecord = true, -1
	head, err := rows.Read()
	if err != nil {
		return series{}, fmt.Errorf("%s: %w", path, err)
	}
	name, at, value := slices.Index(head, "metric_name"), slices.Index(head, "timestamp"),
		slices.Index(head, "metric_value")
	if name < 0 || at < 0 || value < 0 {
		return series{}, fmt.Errorf("%s: not k6's samples: %v", path, head)
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return b.series(), nil
		}
		if err != nil {
			return series{}, fmt.Errorf("%s: %w", path, err)
		}
		if err := b.add(row[name], row[at], row[value]); err != nil {
			return series{}, fmt.Errorf("%s: %w", path, err)
		}
	}
}

// buckets are samples by the second since the first.
type buckets struct {
	from   time.Time
	length int
	trends map[string][][]float64
	counts map[string][]float64
}

func (b *buckets) add(name, at, value string) error {
	trend, counter := slices.Contains(trends, name), slices.Contains(counters, name)
	if !trend && !counter {
		return nil
	}
	when, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return err
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return err
	}
	if b.from.IsZero() {
		b.from = when.Truncate(time.Second)
	}
	i := max(int(when.Sub(b.from)/time.Second), 0)
	b.length = max(b.length, i+1)
	if trend {
		b.trends[name] = grown(b.trends[name], i+1)
		b.trends[name][i] = append(b.trends[name][i], v)
		return nil
	}
	b.counts[name] = grown(b.counts[name], i+1)
	b.counts[name][i] += v
	return nil
}

// grown returns a list of at least n elements.
func grown[T any](list []T, n int) []T {
	if len(list) >= n {
		return list
	}
	return append(list, make([]T, n-len(list))...)
}

func (b *buckets) series() series {
	s := series{From: b.from, Duration: b.length, P50: map[string][]float64{}, P99: map[string][]float64{},
		Counts: map[string][]float64{}}
	for name, list := range b.trends {
		for _, values := range grown(list, b.length) {
			slices.Sort(values)
			s.P50[name] = append(s.P50[name], quantile(values, 0.50))
			s.P99[name] = append(s.P99[name], quantile(values, 0.99))
		}
	}
	for name, list := range b.counts {
		s.Counts[name] = grown(list, b.length)
	}
	s.Sockets = difference(b.length, s.Counts["sockets_opened"], s.Counts["sockets_closed"])
	s.Places = difference(b.length, s.Counts["joined"], s.Counts["over"])
	return s
}

// quantile returns a quantile of sorted values by the nearest rank; -1 for none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return -1
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// difference returns, for each second, how many came and have not gone.
func difference(n int, came, gone []float64) []float64 {
	came, gone = grown(came, n), grown(gone, n)
	out := make([]float64, n)
	now := 0.0
	for i := range out {
		now += came[i] - gone[i]
		out[i] = now
	}
	return out
}
