# The front door. Nothing here needs knowledge of CMake; `make help` lists the targets.
# On a fresh Debian machine every target first installs what it needs (cmake/setup.sh; BRIO_SETUP=no: not).

PRESET ?= release
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
BENCH ?=

# MPI=1: the build for several processes, in a folder of its own.
ifdef MPI
PRESET = mpi
endif

BUILD = $(if $(filter release,$(PRESET)),build,build-$(PRESET))
need = $(if $(filter mpi%,$(PRESET)),mpi,$(if $(filter tsan coverage,$(PRESET)),$(PRESET),test))
# Given only where it is set, so that a build keeps what it was configured with.
werror = $(if $(WERROR),-DBRIO_WERROR=$(WERROR))
# Kernels of all instruction sets; the first `make demo` compiles those of this machine only.
all_sets = -DBRIO_KERNELS=all
say = @printf '%s\n'

.PHONY: all build demo docs pictures playground npm test test-long test-clients test-bare bench campaign sbom aarch64 install uninstall package static wheel blender fuzz coverage format clean help tests-ready
.NOTPARALLEL:

all: build

build:
	@sh cmake/setup.sh $(if $(MPI),mpi,build)
	@cmake --preset $(if $(MPI),mpi,release) $(werror) $(all_sets) >/dev/null
	@cmake --build $(if $(MPI),build-mpi,build) --target brio_cli brio_shared brio_static

demo:
	@sh cmake/setup.sh demo
	@cmake --preset release $(werror) $(shell sh cmake/demo.sh kernels build) >/dev/null
	@cmake --build build --target brio_cli
	@sh cmake/demo.sh build/brio build/demo

docs:
	@sh cmake/setup.sh docs
	@sh cmake/docs.sh . build
	$(say) "Open build/site/index.html in a browser; build/site/brio-theory.pdf is the theory on paper"

pictures: build
	@sh docs/make_pictures.sh build/brio docs/pictures

playground:
	@sh cmake/setup.sh playground
	@$(MAKE) --no-print-directory build BRIO_SETUP=no
	@sh cmake/playground.sh build
	$(say) "Open build/playground.html in a browser, or: build/brio playground (--serve: with threads)"

npm:
	@sh cmake/setup.sh playground
	@sh cmake/npm.sh build pack
	$(say) "in the folder of your project: npm install $(CURDIR)/build/npm/brio-engine-*.tgz (docs/javascript.md)"

tests-ready:
	@sh cmake/setup.sh $(need)
	@cmake --preset $(PRESET) -DBRIO_TESTS=ON $(werror) $(all_sets) >/dev/null
	@cmake --build $(BUILD)
ifeq ($(PRESET),release)
	@sh cmake/playground.sh build || echo "The tests of the playground and of the npm module will be skipped."
endif

# Of the build for several processes: what is about them; the rest is tested without.
test: tests-ready
	@sh cmake/test.sh $(BUILD) $(if $(filter mpi%,$(PRESET)),-L cluster,-LE long)

test-long: tests-ready
	@sh cmake/test.sh $(BUILD)

test-clients:
	@sh cmake/setup.sh clients
	@$(MAKE) --no-print-directory build BRIO_SETUP=no
	@cmake --build build --target brio_python
	@sh cmake/clients.sh build

# The wheel and `pip install .` in a bare Debian, made in build/bare; BRIO_BARE=wheel: without the second.
test-bare:
	@sh cmake/setup.sh bare
	@$(MAKE) --no-print-directory wheel BRIO_SETUP=no
	@sh cmake/bare.sh build

# For 64-bit Arm, tested under qemu; AARCH64="-R scene" runs some of the tests.
aarch64:
	@sh cmake/setup.sh aarch64
	@sh cmake/aarch64.sh build-aarch64 $(AARCH64)

bench: build
	@build/brio bench $(BENCH)

# Random scenes, damaged inputs, interrupted runs for SECONDS; what fails is kept in tests/campaign.
SECONDS ?= 3600
SEED ?= 1
campaign: tests-ready
	@python3 -B tests/campaign.py $(BUILD)/brio --seconds $(SECONDS) --seed $(SEED) --keep tests/campaign \
	    --shim $(BUILD)/tests/failing_malloc.so
	@python3 -B tests/crash.py $(BUILD)/brio

sbom:
	@sh cmake/setup.sh python
	@$(MAKE) --no-print-directory build BRIO_SETUP=no
	@python3 -B cmake/sbom.py . build/brio build/brio.spdx.json

install: build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX="$(abspath $(PREFIX))" >/dev/null
	@cmake --build build --target brio_cli brio_shared brio_static brio_python
	@sh cmake/install.sh build "$(abspath $(PREFIX))" "$(DESTDIR)"

uninstall:
	@sh cmake/uninstall.sh build "$(DESTDIR)"

package:
	@sh cmake/setup.sh package
	@cmake --preset release $(werror) $(all_sets) -DCMAKE_INSTALL_PREFIX=/usr >/dev/null
	@cmake --build build --target brio_cli brio_shared brio_static brio_python
	@cd build && cpack -B package >package.log || { cat package.log; exit 1; }
	@ls build/package/*.deb

static:
	@sh cmake/setup.sh build
	@$(MAKE) --no-print-directory build BRIO_SETUP=no
	@cmake --build build --target brio_single
	@ls build/static/brio

wheel:
	@sh cmake/setup.sh python
	@$(MAKE) --no-print-directory build BRIO_SETUP=no
	@cmake --build build --target brio_python brio_launcher
	@python3 cmake/brio_wheel.py build/dist build

blender:
	@sh cmake/setup.sh python
	@$(MAKE) --no-print-directory build BRIO_SETUP=no
	@python3 -B cmake/brio_blender.py build/brio build/blender/brio_blender.zip

fuzz:
	@sh cmake/setup.sh fuzz
	@cmake --preset fuzz $(werror) >/dev/null
	@cmake --build build-fuzz --target fuzzers
	@sh cmake/fuzz.sh build-fuzz $(FUZZ_SECONDS)

coverage: PRESET = coverage
coverage: test
	@cd build-coverage && gcovr --root .. --filter ../src/ --filter ../cli/ --print-summary \
	    --html-details coverage.html --json-summary coverage.json .
	@python3 -B cmake/coverage.py build-coverage/coverage.json 90
	$(say) "Line by line: build-coverage/coverage.html"

format:
	@sh cmake/setup.sh format
	@clang-format -i $$(find include src cli tests examples web integrations -name '*.[ch]' -not -path '*/node_modules/*')

clean:
	@rm -rf build build-debug build-asan build-tsan build-coverage build-fuzz build-mpi build-mpi-asan build-aarch64

help:
	$(say) "make                 set up and build: build/brio, build/libbrio.so, build/libbrio.a" \
	    "make demo            build, run scenes/demo.yaml two ways, say where the report and the film are" \
	    "make playground      the engine in a page: build/playground.html, which opens without a server" \
	    "make npm             the engine as an ES module: build/npm/brio-engine-*.tgz, for npm install" \
	    "make pictures        make the pictures of the documentation again" \
	    "make docs            the manuals as pages, in build/site, and the theory as a PDF" \
	    "make test            build and run the tests; PRESET=debug|asan|tsan|coverage|mpi-asan for another build" \
	    "make test-long       the same with the long tests" \
	    "make MPI=1           build for several processes, over PETSc and MPI: build-mpi/brio; make test MPI=1 tests it" \
	    "make aarch64         build for 64-bit Arm and run the tests under qemu (hours; docs/builds.md)" \
	    "make test-clients    Blender, VTK and three.js read what brio writes for them (installs Blender: 0.7 GB)" \
	    "make test-bare       the Python package in a bare Debian, without and with a compiler (root; 0.5 GB)" \
	    "make bench           timings; BENCH=elements for one of them" \
	    "make install         PREFIX=/usr/local by default; DESTDIR for packagers" \
	    "make uninstall       remove what the last make install installed" \
	    "make package         a Debian package: build/package/brio_VERSION_ARCHITECTURE.deb" \
	    "make static          the program as one file that needs no library: build/static/brio" \
	    "make wheel           the Python package with its library: build/dist/brio-*.whl, for pip install" \
	    "make blender         the add-on for Blender: build/blender/brio_blender.zip, for Preferences > Add-ons" \
	    "make sbom            what brio is made of, as SPDX: build/brio.spdx.json" \
	    "make campaign        random scenes, damaged inputs, interrupted runs for SECONDS=3600; SEED=1" \
	    "make fuzz            every reader on random input for FUZZ_SECONDS=60 each" \
	    "make coverage        the tests, and which lines they reach" \
	    "make format          clang-format on all sources" \
	    "make clean           remove the build directories" \
	    "" \
	    "Missing Debian packages are installed first, as root or through sudo; BRIO_SETUP=no leaves that out." \
	    "WERROR=ON makes warnings errors. More options (a build without GPL parts, ...): docs/dependencies.md"
