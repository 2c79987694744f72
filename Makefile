# Every target installs what it lacks. CI calls the same ones.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: build package image demo test lint bench results site openapi web clean help

CARGO ?= cargo
OUT := $(or $(CARGO_TARGET_DIR),target)

build: ## Build the braid command into target/release
	@scripts/install-packages build
	@CARGO='$(CARGO)' scripts/build

package: ## Build the braid command, optimised as a whole, and pack it into Debian and RPM packages in target/packages
	@scripts/install-packages build
	@scripts/install-packages package
	@CARGO='$(CARGO)' scripts/build dist
	scripts/package

image: package ## Pack it into a container image, target/image/braid.tar (root)
	@scripts/install-packages image
	scripts/image

demo: ## Show one transfer over every path of a small network (root); HOLD=1: go on, to look at the page
	@echo 'The demo installs what it lacks, builds Braid, and runs for about a minute.' >&2
	@scripts/install-packages demo
	@CARGO='$(CARGO)' scripts/build
	@[[ $$EUID == 0 ]] || { echo 'Networks are made of namespaces, which need root. Run: sudo $(OUT)/release/braid demo' >&2; exit 1; }
	@$(OUT)/release/braid demo $(if $(HOLD),--hold)

test: ## Run every test; those that need root are skipped without it
	@scripts/install-packages test
	scripts/web check
	scripts/test

lint: ## Check format, lints, documentation, workflows, licences and sources of dependencies
	@scripts/install-packages lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings -A rustdoc::private_intra_doc_links' $(CARGO) doc --workspace --no-deps --locked --quiet
	scripts/check-dependencies
	scripts/check-boundaries
	scripts/check-docs
	tests/docs/check_docs.py
	tests/bench/against.py
	scripts/check-workflows
	scripts/check-roles
	scripts/deny
	scripts/advisories
	tests/lint/planted.py

bench: ## Measure everything, into one JSON document; AGAINST=COMMIT: compare with another commit; AGAINST=before: shortly, with the one before
	@scripts/install-packages build
ifeq ($(AGAINST),)
	benches/all
else
	benches/against $(if $(filter before,$(AGAINST)),--smoke,$(AGAINST))
endif

# The tools of bonding-16-quic take some minutes to build.
results: QUIC = $(filter sites bonding-16-quic,$(or $(ONLY),sites))
results: build ## Measure what the papers measured (root), and write docs/results.md; ONLY=ci: a selection, and no page
	@scripts/install-packages lab
	@[[ $$EUID == 0 ]] || { echo 'Networks are made of namespaces, which need root. Run: sudo make results' >&2; exit 1; }
	@$(if $(QUIC),CARGO='$(CARGO)' scripts/quic-tools || echo 'Going on without HTTP/3, which bonding-16-quic needs.' >&2)
	@status=0; PATH="$$PATH:$(abspath $(OUT))/tools/bin" $(OUT)/release/braid results run $(if $(ONLY),--only $(ONLY)) $(if $(filter ci,$(ONLY)),--attempts 2) || status=$$?; \
	 [[ -n '$(ONLY)' || ( $$status != 0 && $$status != 5 ) ]] || $(OUT)/release/braid results show --write docs/results.md; \
	 exit $$status

site: ## Build the documentation as a site in target/book, and check its links
	@scripts/install-packages build
	scripts/site

openapi: ## Write the description of the API anew after a change of it, and the page's types (Node)
	@scripts/install-packages build
	@scripts/install-packages web
	BRAID_WRITE_OPENAPI=1 $(CARGO) test --locked --package braid-controller --test it the_description_in_git
	scripts/web types

web: ## Build the page anew after a change in web/ (Node)
	@scripts/install-packages web
	scripts/web build

clean: ## Remove what was built
	$(CARGO) clean

help: ## Say what the targets do
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 16
