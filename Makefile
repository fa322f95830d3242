.DEFAULT_GOAL := help
.PHONY: help run demo test test-long test-alone check race bench gobench sim estimates growth instructions load load-check day day-check robots attack faults faults-check production mixed-versions fuzz release generate screenshots setup

TEMPL := github.com/a-h/templ/cmd/templ@v0.3.1001
# Tests start servers and browsers: with more packages at a time these starve each other. `make check` vets, and tests need no DWARF.
TESTFLAGS := -p 3 -timeout 15m -vet=off -ldflags=-w
# The longest first, so that none still runs when all others are done.
LONGEST := ./server ./templates ./room ./hub ./ledger ./cmd/waitroom
PKG ?= $(LONGEST) ./...
# Whose goroutines share memory, and whose tests the race detector slows least.
SHARING := ./hub/... ./lock/... ./server/near ./server/heard ./server/admission ./web/quota
LEASES ?= 2000
SEED ?= 1
ROWS ?=
SEEDS ?= 5
SCENARIO ?= smoke
REPLICAS ?= 3
BASE_URL ?=
ONLY ?=
PAGE_LANG ?=
BROWSER ?=
SCALE ?= 1
FUZZ_FOR ?= 10s

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## Start waitroom on http://127.0.0.1:8080 with nothing else installed (ARGS="--addr :9000")
	go run ./cmd/waitroom $(ARGS)

demo: ## Start waitroom with simulated sellers and a carrier, to look at, until Ctrl-C (DEMO_FOR=30s)
	@go build -C lab -o ../bin/demo ./demo && exec bin/demo

test: setup ## Install missing programs that the tests need, and run the product's tests (PKG=./room)
	go test $(TESTFLAGS) $(PKG)

test-long: ## Run the tests that take long (failovers, whole matrices, long property runs, the short fault plan) and the lab's (PKG=./room)
	@scripts/setup.sh
	@scripts/setup.sh faults
	@scripts/setup.sh long
	@TESTFLAGS='$(TESTFLAGS)' scripts/test-long.sh $(if $(filter command environment,$(firstword $(origin PKG))),$(PKG))

test-alone: ## Run the tests that want the machine to themselves: what the screen reader Orca says, and the seller's journeys on Chromium 103
	@scripts/setup.sh
	@scripts/setup.sh alone
	go test -tags 'long alone' -count 1 -p 1 -timeout 15m -vet=off -run '^(TestOrca.*|TestEveryEngineMakesTheSellersJourneys)$$' ./templates ./server

race: ## Run the tests of packages whose goroutines share memory with the race detector (PKG=./...: all)
	@scripts/setup.sh race
	CGO_ENABLED=1 go test -race $(TESTFLAGS) -p 2 $(if $(filter command environment,$(firstword $(origin PKG))),$(PKG),$(SHARING))

fuzz: ## Feed every parser with random input, FUZZ_FOR=10s each (PKG=./room)
	@FUZZ_FOR='$(FUZZ_FOR)' PKG='$(PKG)' scripts/fuzz.sh

bench: ## Measure waitroom beside its peers, and compare with the bars; write lab/benchmarks.md (ONLY=idle: one part, nothing written; BEFORE=commit: both versions in turn; CENTRIFUGO_BIN=)
	@scripts/setup.sh bench
	@go build -C lab -o ../bin/bench ./bench
	@bin/bench -out lab -only '$(ONLY)' -scale '$(SCALE)' -before '$(BEFORE)'

gobench: setup ## Run Go's benchmarks, without the tests (PKG=./room)
	go test -run '^$$' -bench . -benchmem -p 1 -timeout 30m $(PKG)

sim: ## Simulate carriers and sellers on the real engine; print how many codes are matched wrongly (LEASES=2000 SEED=1 ROWS=before)
	GOGC=400 go test ./sms/sim -v -count 1 -timeout 4h -run '^TestTable$$' -sim.leases $(LEASES) -sim.seed $(SEED) -sim.rows '$(ROWS)'

estimates: ## Compare ways to estimate a wait, on simulated rooms; write lab/estimates.md (SEEDS=5)
	@go build -C lab -o ../bin/estimates ./estimates && bin/estimates -seeds $(SEEDS) -out lab

growth: ## Estimate the load of many sellers from measured constants, compare with a simulation; write lab/growth.md
	@go build -C lab -o ../bin/growth ./growth && bin/growth -write $(ARGS)

instructions: setup ## Count the instructions that Redis executes for each verb, by functions and as a script, with Callgrind (TIMED=1: the time it says it needed)
	@scripts/setup.sh instructions
	@go run -C lab ./instructions $(if $(TIMED),-time)

load: ## Load replicas that it starts, or BASE_URL, with k6 (SCENARIO=steady REPLICAS=3; docs/load-testing.md)
	@$(if $(BASE_URL),,scripts/setup.sh load)
	@go build -C lab -o ../bin/load ./run
	@bin/load -scenario '$(SCENARIO)' -replicas '$(REPLICAS)' -base '$(BASE_URL)'

load-check: ## Check the checks of load: builds that break a promise on purpose must fail the threshold for it
	@scripts/setup.sh load
	@go build -C lab -o ../bin/load ./run
	@bin/load -check -replicas '$(REPLICAS)'

day: ## Simulate 50 hours of 20 rooms at full use in six minutes; fail if memory, keys, streams, goroutines or files grow (HOURS=50 BROKEN=leases)
	@scripts/setup.sh faults
	@go build -C lab -o ../bin/day ./day
	@bin/day -hours $(or $(HOURS),50) -broken '$(BROKEN)'

day-check: ## Check the check of day: builds that leak on purpose must fail it
	@scripts/setup.sh faults
	@go build -C lab -o ../bin/day ./day
	@bin/day -check

robots: ## Take turns by the Go client through three replicas while these are killed (TURNS=10000)
	@scripts/setup.sh load
	go test -C lab ./clients -run '^TestNoTurnIsLostWhileReplicasAreKilled$$' -v -count 1 -timeout 1h -args -robots.turns $(or $(TURNS),10000)

faults: ## Kill, cut and pause real processes under simulated sellers, and check each answer and frame (SEEDS=1 SEED=1 PLAN=flushall; docs/faults.md)
	@scripts/setup.sh faults
	@mkdir -p results/faults
	go test -C lab ./faults -run '^TestNothingIsLostOrDoubledUnderFaults$$' -v -count 1 -timeout 4h -faults.plans '$(or $(PLAN),all)' \
		-faults.seed $(SEED) -faults.seeds $(if $(filter command environment,$(firstword $(origin SEEDS))),$(SEEDS),1) -faults.results '$(CURDIR)/results/faults'
	@$(if $(PLAN),:,if scripts/version.sh --any; then $(MAKE) --no-print-directory mixed-versions; else echo 'faults: mixed versions were NOT tried: no version v* is tagged yet (make mixed-versions FROM=commit)'; fi)

faults-check: ## Check the checks of faults: builds that break a rule on purpose must fail them (BROKEN=two_holders)
	@scripts/setup.sh faults
	go test -C lab ./faults -run '^TestEveryInvariantIsCaughtWhenTheProductBreaksIt$$' -v -count 1 -timeout 2h -faults.broken '$(or $(BROKEN),all)'

attack: ## Run all attacks at once beside honest sellers; fail if a turn is lost or a join takes twice as long (ATTACK_FOR=10m)
	@scripts/setup.sh load
	@go build -C lab -o ../bin/attack ./attack
	@bin/attack -for '$(or $(ATTACK_FOR),10m)'

mixed-versions: ## Serve the same rooms by replicas of another version and of this one, upgrade and roll back (FROM=v1.0.0, default: the latest tag)
	@scripts/setup.sh faults
	@mkdir -p results/faults
	@program=$$(scripts/version.sh '$(FROM)') && go test -C lab ./faults -run '^TestNothingIsLostOrDoubledUnderFaults$$' -v -count 1 -timeout 1h \
		-faults.plans mixed-versions,mixed-claims -faults.older "$$program" -faults.seed $(SEED) -faults.results '$(CURDIR)/results/faults'

production: ## Follow docs/production.md block by block on eight hosts made of namespaces, as root; one to four minutes
	@scripts/setup.sh faults
	@scripts/setup.sh check
	@scripts/production.sh

check: ## Check without running: format, vet, staticcheck, generated code, known vulnerabilities
	@TEMPL=$(TEMPL) scripts/check.sh

release: ## Build every system's program into dist/, with checksums and a bill of materials, stamped with the tag (VERSION=v1.2.3 TARGETS="linux/amd64")
	@TARGETS='$(TARGETS)' scripts/release.sh $(VERSION)

generate: ## Generate Go from the templates and the catalogue of words, the records in docs/redis-keys.md, and what browsers load
	go run ./templates/locales/gen
	go run ./room/wire/gen
	go run ./templates/guides/gen
	go run ./static/gen
	go run $(TEMPL) generate -path templates

screenshots: ## Take pictures of the seller's page in every state, on phone and desktop, light, dark and in forced colours, into results/screenshots, and the README's (ONLY="next turn-code" PAGE_LANG=en BROWSER=old)
	@scripts/setup.sh
	@$(if $(BROWSER),scripts/old-chromium.sh)
	SCREENSHOTS='$(CURDIR)/results/screenshots' ONLY='$(ONLY)' PAGE_LANG='$(PAGE_LANG)' BROWSER='$(BROWSER)' go test -tags pictures ./templates -run '^TestScreenshots$$' -count 1 -timeout 15m
	@$(if $(ONLY)$(PAGE_LANG)$(BROWSER),:,cp results/screenshots/next-360-light.png docs/images/room-waiting.png; cp results/screenshots/turn-code-360-light.png docs/images/room-turn.png)

setup: ## Install what the tests need: redis, postgresql, mariadb, chromium, a Korean font (Debian, Ubuntu)
	@scripts/setup.sh
