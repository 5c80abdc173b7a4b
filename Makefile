# `make help` lists what there is.
SHELL := /bin/sh
.DEFAULT_GOAL := help
NODE := node_modules/.bin/node --conditions=@vision/source --disable-warning=TimeoutNegativeWarning
LOCAL := $(NODE) deploy/local/main.ts

.PHONY: help packages up down status logs restart clean infra test-infra test-up test-down

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F'\t' '{ printf "make %-14s %s\n", $$1, $$2 }'

packages:
	@node scripts/ensure-packages.js

up: packages ## start the system in the background; TRACES=1 adds a trace viewer
	@$(LOCAL) up

down: packages ## stop what `make up` and `make infra` started
	@$(LOCAL) down

status: packages ## what runs
	@$(LOCAL) status

logs: packages ## follow the logs; SERVICE=name for one of them
	@$(LOCAL) logs

restart: packages ## start one service anew: SERVICE=name
	@$(LOCAL) restart

clean: packages ## stop everything and remove its data
	@$(LOCAL) clean

infra: packages ## start only Kafka, PostgreSQL, Redis and S3
	@$(LOCAL) infra

test-infra: packages ## start the same for tests; the addresses are in .local/test/env
	@$(LOCAL) test-infra

test-up: packages ## start a whole system for tests, apart from that of `make up`
	@$(LOCAL) test-up

test-down: packages ## stop what runs for tests
	@$(LOCAL) test-down
