# The default goal prints what can be made.
.DEFAULT_GOAL := help

# assay needs no C compiler: the pure Go build gives the same digests.
export CGO_ENABLED ?= 0

BIN     := bin
STATE   ?= .state/bench
SOLVERS := $(BIN)/router.wasm $(BIN)/swap.wasm $(BIN)/fallback.wasm
GUEST   := GOOS=wasip1 GOARCH=wasm go build -trimpath -buildvcs=false -ldflags='-s -w' -buildmode=c-shared

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/assay
	@go build -trimpath -o $(BIN)/assay ./cmd/assay

.PHONY: solvers
solvers: $(SOLVERS) ## build the reference solvers as WebAssembly

.PHONY: $(SOLVERS)
$(SOLVERS): $(BIN)/%.wasm:
	@$(GUEST) -o $@ ./solvers/reference/$*

.PHONY: conformance
conformance: ## build the conformance guests in every language, into bin
	@sh solvers/conformance/build.sh $(BIN)

.PHONY: template-check
template-check: ## type-check the solver template in JavaScript (needs npm)
	@cd solvers/templates/js && npm ci --silent --no-audit --no-fund && npm run --silent check

.PHONY: bench
bench: build solvers ## run one benchmark epoch over the embedded fixtures
	@$(BIN)/assay bench --state $(STATE) $(SOLVERS)

.PHONY: bench-peers
bench-peers: ## measure plan execution beside Anvil (needs npm)
	@command -v npm >/dev/null || { echo "bench-peers: needs npm, which installs Anvil into fixtures/peers/node_modules" >&2; exit 1; }
	@cd fixtures/peers && npm ci --silent --no-audit --no-fund
	@mkdir -p $(BIN) && go build -trimpath -o $(BIN)/peers ./fixtures/peers
	@$(BIN)/peers

.PHONY: test
test: ## run every test
	@go test -timeout 25m ./...

.PHONY: test-race
test-race: ## run every test under the race detector (needs a C compiler)
	@CGO_ENABLED=1 go test -race -timeout 40m ./...

FUZZTIME ?= 30s
FUZZPKGS ?= ./...
.PHONY: fuzz
fuzz: ## run every fuzz target of FUZZPKGS for FUZZTIME each
	@set -e; for pkg in $$(go list $(FUZZPKGS)); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg; \
		done; \
	done

.PHONY: soak
soak: ## run what is too long for CI: race detector, long tests, fuzzing, every benchmark
	@$(MAKE) test-race
	@ASSAY_SOAK=1 go test -timeout 3h ./sandbox/...
	@$(MAKE) fuzz FUZZTIME=60s
	@go test -run '^$$' -bench . -benchtime 2s -timeout 1h ./...

.PHONY: lint
lint: $(BIN)/golangci-lint ## run the linters pinned in tools/go.mod
	@$(BIN)/golangci-lint run ./...

$(BIN)/golangci-lint: tools/go.mod tools/go.sum
	@go build -C tools -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: fixtures
fixtures: ## rebuild the fixture chain from npm artifacts (needs npm)
	@cd fixtures/generate && npm ci
	@go run ./fixtures/generate

.PHONY: fixtures-check
fixtures-check: ## rebuild the fixture chain and compare it with the committed one
	@cd fixtures/generate && npm ci && npm run -s check
	@go run ./fixtures/generate -check
	@bash scoring/engine/verify.sh

.PHONY: clean
clean: ## remove what the other targets made
	@rm -rf $(BIN) .state fixtures/generate/node_modules fixtures/peers/node_modules solvers/conformance/as/node_modules solvers/templates/js/node_modules
