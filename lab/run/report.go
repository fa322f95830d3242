package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// report has everything that is known of a run.
type report struct {
	Scenario  string    `json:"scenario"`
	Base      string    `json:"base"`
	Began     time.Time `json:"began"`
	Machine   string    `json:"machine"`
	Replicas  int       `json:"replicas"` // that were started here; 0 = a deployment
	Fault     string    `json:"fault,omitempty"`
	Processes []process `json:"processes"`
	Marks     []mark    `json:"marks"` // what was done to it
	Series    series    `json:"series"`

	summary summary
	text    string
	mu      sync.Mutex
}

// mark is an action on the deployment during the run.
type mark struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

// summary has the part of k6's summary that the page shows.
type summary struct {
	Metrics map[string]struct {
		Thresholds map[string]struct {
			OK bool `json:"ok"`
		} `json:"thresholds"`
	} `json:"metrics"`
}

func (r *report) mark(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Marks = append(r.Marks, mark{time.Now(), what})
}

// failed lists the metrics whose thresholds failed, and "memory" if it grew in a soak test.
func (r *report) failed() []string {
	var names []string
	for name, m := range r.summary.Metrics {
		for _, t := range m.Thresholds {
			if !t.OK && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if r.Scenario == "soak" && slices.ContainsFunc(r.Processes, process.grew) {
		names = append(names, memoryRule)
	}
	slices.Sort(names)
	return names
}

// read reads the files that k6 wrote.
func (r *report) read(dir string, flatMiB float64) error {
	data, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &r.summary); err != nil {
		return fmt.Errorf("summary.json: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "summary.txt"))
	if err != nil {
		return err
	}
	r.text = strings.TrimSpace(string(text))
	for i := range r.Processes {
		r.Processes[i].SlopeOf = slopeOf(r.Processes[i].Samples, flatMiB)
	}
	r.Series, err = readSamples(filepath.Join(dir, samplesFile))
	return err
}

// write writes the page, and beside it its data.
func (r *report) write(dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), data, 0o644); err != nil {
		return err
	}
	page, err := os.Create(filepath.Join(dir, "index.html"))
	if err != nil {
		return err
	}
	if err := r.page(page); err != nil {
		_ = page.Close()
		return err
	}
	return page.Close()
}
