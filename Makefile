# `make` lists the targets.

GO       ?= go
BIN      := bin
TOOLS    := $(BIN)/tools
PACKAGES ?= ./...
PROFILE  := cmd/bourse/bourse.pgo

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/bourse and bin/bourse-signer.
	CGO_ENABLED=0 $(GO) build -trimpath -pgo=$(PROFILE) -o $(BIN)/bourse ./cmd/bourse
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/bourse-signer ./cmd/bourse-signer

PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64

.PHONY: release
release: ## Make the archives of a release in bin/release, from what is committed; PLATFORMS=.
	tools/release $(PLATFORMS)

.PHONY: golden
golden: ## Make the data directory of a release that later builds are held against; TAG=v0.1.0.
	$(GO) test -count=1 -v -run '^TestGolden$$' ./cmd/bourse -golden.make=$(TAG)

.PHONY: cross
cross: ## Vet for macOS, run for arm64 in qemu-aarch64-static, make a release twice.
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) vet . ./cmd/... ./internal/...
	$(GO) test -count=1 -timeout 60m -v -tags cross -run '^Test(Arm64|Release)' ./cmd/bourse

.PHONY: image
image: build ## Lay out bin/image, from which `podman build bin/image` or `docker build` makes an image.
	@rm -rf $(BIN)/image && mkdir -p $(BIN)/image/data $(BIN)/image/certs
	cp deploy/Containerfile $(BIN)/bourse $(BIN)/image/
	@cp /etc/ssl/certs/ca-certificates.crt $(BIN)/image/certs/ || \
		echo "no certificates of authorities here: mount them at /etc/ssl/certs for SMTP and PostgreSQL over TLS"

.PHONY: run
run: build ## Run a sandbox with live demo markets on 127.0.0.1:8080, for operators on 127.0.0.1:8090.
	$(BIN)/bourse dev --admin-listen=127.0.0.1:8090 --catalogue=demo --limits=production $(ARGS)

# What tests need beyond Go, as far as it is there. It is part of the environment, so that
# results in Go's cache are those of a machine with the same.
HAS = $(shell command -v strace curl systemd-analyze python3 openssl node) $(wildcard /usr/lib/postgresql/*/bin/initdb) $(shell command -v initdb) $(wildcard $(BIN)/networks/*/run) uid=$(shell id -u)
TALLY ?=

.PHONY: test
test: ## Run all tests; those that need what is not installed are skipped and counted.
	@mkdir -p $(BIN)
	@$(GO) build -o $(BIN)/tally ./internal/tally
	@BOURSE_HAS="$(HAS)" $(GO) test -timeout 45m -json $(TEST_FLAGS) $(PACKAGES) | $(BIN)/tally $(TALLY)

.PHONY: web
web: web/node_modules ## Build the pages into internal/web/dist, which is committed; needs Node and npm.
	cd web && npm run --silent build
	REWRITE=1 $(GO) test -count=1 -run '^TestSources$$' ./internal/web

.PHONY: web-lint
web-lint: web/node_modules ## Check the pages' types and run their linter.
	cd web && npm run --silent check && npm run --silent lint

.PHONY: web-test
web-test: web/node_modules build ## Test the pages: their units, then all of them in Chromium against bin/bourse.
	cd web && npm test --silent

.PHONY: web-bench
web-bench: web/node_modules web/test/bench/node_modules build ## Measure the pages beside their aims into docs/web.md, on an idle machine; QUICK=1 prints only.
	cd web && npm exec -- vitest run --project bench

web/test/bench/node_modules: web/test/bench/package-lock.json
	cd web/test/bench && npm ci --silent --no-audit --no-fund
	@touch $@

.PHONY: web-pictures
web-pictures: web/node_modules build ## Take the pictures of README and docs/web.md anew, in Chromium.
	cd web && BOURSE_PICTURES=../docs/pictures npm exec -- vitest run --project browser test/pictures.test.ts test/venue.test.ts

web/node_modules: web/package-lock.json
	cd web && npm ci --silent --no-audit --no-fund
	@touch $@

.PHONY: clients
clients: build ## Let stock clients of Binance's interface use bin/bourse; needs node, npm and their registry. ARGS=ccxt for one.
	test/clients/run $(ARGS)

.PHONY: first-minute
first-minute: ## Do a new user's first minute in a fresh copy, time it and compare README's transcript.
	tools/first-minute

.PHONY: needs
needs: ## Install what tests need beyond Go, on Debian and Ubuntu.
	$(if $(filter-out 0,$(shell id -u)),sudo) apt-get install -qy gcc libc6-dev make curl strace systemd qemu-user-static postgresql python3 openssl $(if $(shell command -v npm),,nodejs npm) $(if $(shell command -v chromium google-chrome),,chromium)

NODES ?= knots litecoin anvil

.PHONY: networks
networks: ## Bring the nodes of real networks that tests run into bin/networks, without root; NODES=.
	tools/networks/fetch $(NODES)

.PHONY: networks-all
networks-all: networks ## The same, and build btcd, geth and a chain of the Cosmos SDK, some fifteen minutes.
	tools/networks/fetch btcd geth cosmos

NODE ?= knots

.PHONY: networks-test
networks-test: ## Run the tests against a real node, NODE=knots, litecoin, btcd, anvil, geth or cosmos, which must be there.
	BOURSE_REQUIRE="$(NODE)" $(GO) test -count=1 -timeout 20m -v -run '^Test(Contract|ColdOnNode|ThawOnNode|Faults|RealNetworks|NodeOfAnotherChain|RealCreditAlone|RealQuorum|RealDrills|RealMoney|RealSigner|RealCrowd|NetworkKills)$$/^$(NODE)$$' ./internal/chain/bitcoin ./internal/chain/evm ./internal/chain/cosmos ./cmd/bourse

FAMILY ?= $(NODES)

.PHONY: networks-kills
networks-kills: KILLS = 200
networks-kills: ## Kill exchange, signer and node or cut the connection KILLS times for each FAMILY, knots, litecoin, btcd, anvil, geth or cosmos.
	@for family in $(FAMILY); do \
		BOURSE_REQUIRE="$$family" $(GO) test -count=1 -timeout 120m -v -run "^TestNetworkKills\$$/^$$family\$$" ./cmd/bourse -networks.kills=$(KILLS) || exit 1; \
	done

.PHONY: networks-deep
networks-deep: ## Replace more blocks of Knots and of anvil than an exchange remembers.
	BOURSE_REQUIRE="knots anvil" $(GO) test -count=1 -timeout 20m -v -run '^TestRealDeepReorganisation$$' ./cmd/bourse -networks.deep

.PHONY: networks-figures
networks-figures: ## Measure an exchange on a real node, beside the node alone: catch-up and latencies.
	BOURSE_REQUIRE=knots $(GO) test -count=1 -timeout 30m -v -run '^TestNetworkFigures$$' ./cmd/bourse -networks.figures=100

FLAGS ?= -short

.PHONY: race
race: ## Run the quick tests with the race detector; FLAGS= for all of them.
	$(GO) test -timeout 20m -race $(FLAGS) $(PACKAGES)

STORE ?= sqlite

.PHONY: conformance
conformance: ## Hold the binary against every clause of the specification; STORE=postgres with its stores there, TRIO=1 the leader of three nodes, TRIO=1 REPLICA=1 another one, TRIO=1 UNREST=1 another leader every 5 seconds.
	$(GO) test -count=1 ./test/conformance -store=$(STORE) $(if $(TRIO),-nodes=3) $(if $(REPLICA),-replica) $(if $(UNREST),-unrest -timeout 30m)

PART ?= 1/1

.PHONY: mutations
mutations: ## Examine the conformance checks themselves, PART N/M of them; ONLY=oco for some.
	$(GO) test -count=1 -timeout 60m -run TestMutations ./test/conformance -mutate=$(PART) -only='$(ONLY)'

.PHONY: zoo
zoo: ## Let each seeded bug loose, PART N/M of them, and want it caught; ONLY=3,17 for some.
	$(GO) test -count=1 -timeout 60m -tags zoo ./test/zoo -part=$(PART) -only=$(ONLY)

CYCLES ?= 200

.PHONY: crash
crash: ## Kill the real binary CYCLES times while clients trade, move money and are told by webhooks.
	$(GO) test -count=1 -timeout 60m -v -run 'TestKill$$|TestWebhooksSurviveKills$$' ./cmd/bourse -crash.cycles=$(CYCLES)

KILLS ?= 100

.PHONY: standby
standby: ## Kill the source of a standby KILLS times while clients trade and move money, go on with the standby, check all histories.
	$(GO) test -count=1 -timeout 60m -v -run 'TestStandbyKill$$' ./cmd/bourse -standby.kills=$(KILLS)

FREEZES   ?= 100
CUTS      ?= 100
STALLS    ?= 100
TRANSFERS ?= 100

.PHONY: cluster
cluster: ## Kill, stop and cut off nodes of three and let their disks hang, KILLS, FREEZES, CUTS and STALLS times, while clients trade, check all histories, hand over TRANSFERS times, replace a leader, and let nodes join behind an archive.
	$(GO) test -count=1 -timeout 120m -v -run 'TestCluster(Kills|Freezes|Cuts|Stalls|Transfer|ReplaceLeader|JoinArchived)$$' ./cmd/bourse -cluster.kills=$(KILLS) -cluster.freezes=$(FREEZES) -cluster.cuts=$(CUTS) -cluster.stalls=$(STALLS) -cluster.transfers=$(TRANSFERS)

BOT_FOR ?= 10m

.PHONY: bot
bot: ## Run the guide's bot for BOT_FOR, interrupt it and the exchange each minute, compare their accounts.
	$(GO) test -count=1 -timeout 60m -v -run 'TestBot$$' ./cmd/bourse -bot.for=$(BOT_FOR)

.PHONY: faults
faults: ## Let every operation of the disk fail, files rot, disks fill up, clocks jump.
	$(GO) test -count=1 -timeout 20m -run 'TestEveryOperationFails|TestCrashAnywhere|TestTorn|TestFlipped|TestEveryReadFlips|TestFullDisk|TestSnapshot' ./internal/follower ./internal/journal ./internal/journal/filelog
	$(GO) test -count=1 -timeout 20m -run 'TestClockJumps' ./internal/node
	$(GO) test -count=1 -timeout 20m -v -run 'TestInjectedFaults|TestDamagedFiles|TestTornEnd|TestFullDisk|TestDiskWithoutAByte|TestSecondSignal|TestPoisonedCommand|TestVoid|TestOperatorsMistakes' ./cmd/bourse

SIGNER_KILLS ?= 200

.PHONY: signer
signer: ## Kill bourse-signer SIGNER_KILLS times while customers withdraw.
	$(GO) test -count=1 -timeout 60m -v -run 'TestSignerKills$$' ./cmd/bourse -signer.kills=$(SIGNER_KILLS)

SEEDS ?= 100

.PHONY: oracle
oracle: ## Hold the engine against the oracle: SEEDS times 100,000 random commands.
	$(GO) test -count=1 -timeout 120m -v -run 'TestAgreement$$' ./internal/core/engine -seeds=$(SEEDS) -commands=100000

SOAK_WINDOW ?= 30s
SOAK_FOR    ?= 10m

.PHONY: hostile
hostile: ## Attack a running exchange; SOAK=1 adds thousands of connections.
	$(GO) test -count=1 -timeout 60m $(if $(SOAK),-v) ./test/hostile $(if $(SOAK),-soak.busy=2000 -soak.pairs=5 -soak.window=$(SOAK_WINDOW) -soak.most=0.10 -soak.idle=10000 -soak.for=$(SOAK_FOR))

.PHONY: abuse
abuse: ## Let crowds attack what strangers share, and compare the honest ACK, some 40 minutes; ONLY=captchas for some.
	$(GO) test -count=1 -timeout 120m -v ./test/abuse -full -only='$(ONLY)'

FUZZTIME ?= 30s

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME.
	tools/fuzz $(FUZZTIME)

.PHONY: bench
bench: build ## Measure everything beside its anchors, some 25 minutes; QUICK=1 for 3. ENGINE=DIR adds a clone of github.com/i25959341/orderbook.
	ENGINE=$(ENGINE) tools/bench $(if $(QUICK),-quick,-doc docs/performance.md)

.PHONY: pgo
pgo: build ## Make the profile that the compiler builds with anew, some 2 minutes.
	tools/pgo $(PROFILE)

HOT := $(GO) test -run '^$$' -bench 'Append|Decode|Authenticate|Tail' -benchtime 100ms -count 5 ./internal/record ./internal/account ./internal/history

.PHONY: benchstat
benchstat: $(TOOLS)/benchstat ## Compare what is hot with test/bench/baseline.txt: a report, no test.
	@mkdir -p data/bench
	$(HOT) >data/bench/now.txt
	$(TOOLS)/benchstat test/bench/baseline.txt data/bench/now.txt

.PHONY: baseline
baseline: ## Make test/bench/baseline.txt what is hot now.
	$(HOT) >test/bench/baseline.txt

.PHONY: check
check: fmt lint quick ## What must pass before a commit: format, lint, layers, quick tests.

.PHONY: fmt
fmt: ## Fail if a file is not formatted.
	@files=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$files" ]; then echo "not gofmt-ed (run gofmt -w):"; echo "$$files"; exit 1; fi

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Run vet and the linters.
	$(GO) vet $(PACKAGES)
	$(TOOLS)/golangci-lint run $(PACKAGES)

.PHONY: describe
describe: ## Lint the descriptions of the interfaces; needs Node.
	cd tools/describe && npm ci --no-audit --no-fund && REDOCLY_SUPPRESS_UPDATE_NOTICE=true npm exec --no -- redocly lint

.PHONY: vuln
vuln: ## Look for known vulnerabilities in what the program uses; exit 75 if their database is away.
	@tools/vuln $(PACKAGES)

.PHONY: units
units: ## Hold the unit file against systemd-analyze and against a traced exchange.
	$(GO) test -count=1 -v -run '^TestUnit' ./cmd/bourse

.PHONY: quick
quick: ## Run the quick tests.
	$(GO) test -timeout 20m -short $(PACKAGES)

.PHONY: sim
SIM := $(GO) test ./internal/sim -run '^TestSeeds$$' -count=1 -v
SIM_SEEDS := -sim.seeds=200 -sim.commands=5000 -sim.for=5m
ifdef SEED
SIM_SEEDS := -sim.seed=$(SEED) -sim.seeds=1 -sim.commands=$(or $(COMMANDS),5000)
endif
sim: ## Simulate exchanges with faults: 5 minutes, at least 200 seeds (SEED=n for one); then clusters.
	$(SIM) -timeout=1h $(SIM_SEEDS)
	$(if $(SEED),,$(SIM_CLUSTER) -timeout=1h $(CLUSTER_SEEDS))

.PHONY: sim-cluster
SIM_CLUSTER := $(GO) test ./internal/sim -run '^TestClusterSeeds$$' -count=1 -v
CLUSTER_SEEDS := $(if $(SEED),-sim.seed=$(SEED) -sim.seeds=1,-sim.seeds=200)
sim-cluster: ## Simulate clusters of three nodes with faults: 200 seeds, two minutes (SEED=n for one).
	$(SIM_CLUSTER) -timeout=1h $(CLUSTER_SEEDS)

.PHONY: sim-long
sim-long: ## The same before a release: 2,000 seeds of 20,000 commands, about an hour on two cores.
	$(SIM) -timeout=48h -sim.seeds=2000 -sim.commands=20000

$(TOOLS)/%: tools/go.mod
	@echo "building $* (once)"
	@mkdir -p $(TOOLS)
	@cd tools && $(GO) build -o ../$(TOOLS)/ tool
	@touch $(TOOLS)/*
