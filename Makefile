# `make help` lists what there is. Everything runs on the Node that npm installs, whatever the machine has.
SHELL := /bin/sh
.DEFAULT_GOAL := help
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
NODE := node_modules/.bin/node --conditions=@vision/source
LOCAL := $(NODE) deploy/local/main.ts
TEST := $(NODE) scripts/test.ts
WITH_SYSTEM := set -a; . "$${VISION_LOCAL_DIR:-.local}/env"; set +a;

.PHONY: fresh programs dashboards images env compose-check help packages demo test up down status logs restart clean infra camera
.PHONY: rehearse-restore
.PHONY: lint format typecheck deps docs compose unit rules integration e2e outages gates attacks fuzz faults recovery rotate why simulate deliberate python-client browser walls chart chart-run beside bench test-infra test-up test-down version release release-proof release-check

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F'\t' '{ printf "make %-13s %s\n", $$1, $$2 }'

packages:
	@node scripts/ensure-packages.js

demo: up ## recognise what the examples show through the public API, and draw it
	@$(WITH_SYSTEM) $(NODE) examples/demo.ts

test: packages ## lint, format, types, dependencies, docs, unit, alert rules, integration and end-to-end tests; STEPS="lint unit" for some
	@$(TEST) $(STEPS)

lint format typecheck deps docs compose unit rules integration e2e: packages
	@$(TEST) $@

outages: packages ## tests of services that are killed, frozen or cut off, and of stores and disks that fail
	@$(TEST) outages

gates: packages ## break what each check of the code guards: the check has to fail
	@$(TEST) gates

attacks: packages ## send the whole system what attackers send; REPORT=1 records it for docs/security.md
	@$(TEST) attacks

fuzz: packages ## random input for parsers and API: MINUTES=number TARGET=name SEED=number KEEP=1 REPORT=1
	@$(TEST) fuzz

faults: packages ## break things on purpose: SEED=number MINUTES=number ONLY=text BROKERS=3 BESIDE=1
	@$(TEST) faults

beside: packages ## run the last release beside this code, each half old once, through an upgrade and back: ONLY=stage,stage BASE=release
	@$(NODE) test/beside/run.ts

rotate: packages ## rotate every key, token and password of a busy system: ONLY=name,name HASTY=1 REPORT=1
	@$(TEST) rotate

recovery: packages ## how long callers see failures when connections to a store die without a reset: ONLY=store,store
	@$(NODE) test/recovery/run.ts

rehearse-restore: packages ## restore each database alone, to an older and to an empty copy, and all at once; the bucket has to keep what it held: ONLY=service,service or ONLY=all
	@$(NODE) test/restore/run.ts

why: packages ## make timeouts happen and tell each from its trace: ONLY=name REPORT=1 PICTURE=1
	@$(NODE) test/why/run.ts

simulate: packages test-infra ## play use cases of results, tasks and inference step by step in random order: SEED=number MINUTES=number ONLY=name,name
	@set -a; . "$${VISION_LOCAL_DIR:-.local}/test/env"; set +a; $(NODE) test/simulation/run.ts

deliberate: packages test-infra ## take fixes out again, one at a time: a test has to notice; PATTERN=text
	@set -a; . "$${VISION_LOCAL_DIR:-.local}/test/env"; set +a; $(NODE) test/faults/deliberate/run.ts

python-client: packages ## build the Python client and test its wheel against a running system; UPDATE=1 writes its models anew
	@$(TEST) python-client

browser: packages ## use the console in Chromium against the real system; images of its pages are in .local/test/browser
	@$(TEST) browser

programs: packages ## print the Debian packages that `make demo` and `make test` still need, for apt-get install
	@$(NODE) scripts/print-programs.ts

fresh: packages ## both commands of README on a bare Debian 12 and 13: ONLY=debian12,debian13,user COMMAND=demo STEPS="lint unit"; needs root
	@$(NODE) test/fresh/run.ts

walls: packages ## the tests of decoding and of readers in a restricted container of Debian 13; needs root
	@sh scripts/check-walls.sh

chart: packages ## look at the Helm chart: lint, renders, its tests, Kubernetes schemas, alerts; UPDATE=1 keeps new renders
	@$(NODE) deploy/chart/main.ts

dashboards: packages ## run every query of the dashboards on what make up OBSERVE=1 recorded, and draw them: MINUTES=number
	@$(WITH_SYSTEM) $(NODE) deploy/dashboards/draw/main.ts

images: packages ## build the seven images (docker, or buildah as root), check their sizes, list what is in them: REPORT=1
	@$(NODE) deploy/images/main.ts build

env: packages ## write .env for docker compose, with random secrets where there are none
	@$(NODE) deploy/compose/write-env.ts

compose-check: packages ## run the images as docker-compose.yml says, without Docker, and use them; needs root
	@$(NODE) deploy/compose/check/main.ts

chart-run: packages ## run what the chart renders under podman: jobs, services, helm test, an upgrade: BASE=release; needs root and the images
	@$(NODE) deploy/chart/run/main.ts

version: packages ## print the version of images and chart that are built of this checkout
	@$(NODE) scripts/print-version.ts

release: packages ## images, chart, bills of materials, checksums, provenance and signature in .local/release: RELEASE_KEY=file WITHOUT=images
	@$(NODE) scripts/make-release.ts

release-proof: packages ## make a release and verify, push, pull, render and falsify it, against a registry on loopback: WITHOUT=images RELEASE=folder PUBLIC_KEY=key
	@$(NODE) scripts/prove-release.ts

release-check: packages ## run the suites of a release that `make test` does not, and check the measured pages: ONLY=name,name
	@$(NODE) scripts/release-check.ts

bench: up ## the benchmarks; fails when a ratio breaks its floor or target: BENCH=name REPORT=1
	@$(WITH_SYSTEM) $(NODE) bench/run.ts $(BENCH)

up: packages ## start the system in the background; OBSERVE=1 adds Prometheus and a trace viewer
	@$(LOCAL) up

camera: packages ## play examples/street.mp4 as a camera until Ctrl-C; it prints the address
	@$(NODE) examples/live-source.ts

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
