/** A suite that `make test` does not run. */
export interface Suite {
  name: string;
  /** Commands of a shell; they see REPORT=1, so they write their results into the pages. */
  command: string;
  /** The suite fails when it takes longer. About twice what it takes on two quiet cores. */
  limitMinutes: number;
  /** It makes namespaces, mounts or images, which needs root. */
  needsRoot?: true;
  /** Programs that the suite cannot install itself. */
  needs?: readonly string[];
  /** A line that says that a part was left out, with the reason as its group: the suite then counts as failed. */
  leftOut?: RegExp;
}

/** What `make release-check` runs, in this order: compose-check uses the images, chart-run builds on their layers. */
export const suites: readonly Suite[] = [
  { name: 'outages', command: 'make outages', limitMinutes: 30 },
  { name: 'gates', command: 'make gates', limitMinutes: 15 },
  { name: 'simulate', command: 'make simulate MINUTES=10', limitMinutes: 20 },
  { name: 'why', command: 'make why', limitMinutes: 20 },
  { name: 'walls', command: 'make walls', limitMinutes: 20, needsRoot: true },
  { name: 'images', command: 'make images', limitMinutes: 40, needsRoot: true },
  { name: 'compose-check', command: 'make compose-check', limitMinutes: 20, needsRoot: true },
  { name: 'chart', command: 'make chart', limitMinutes: 20, leftOut: /(not compared: .+)/ },
  {
    name: 'chart-run',
    // What runs is what would be released, pushed to a registry and pulled from there.
    command:
      'make release-proof && ' +
      'RELEASE="${VISION_LOCAL_DIR:-.local}/release-proof/$(make -s version)" make chart-run',
    limitMinutes: 60,
    needsRoot: true,
  },
  { name: 'rotate', command: 'make rotate', limitMinutes: 45 },
  { name: 'recovery', command: 'make recovery', limitMinutes: 15 },
  { name: 'rehearse-restore', command: 'make rehearse-restore', limitMinutes: 30 },
  { name: 'python-client', command: 'make python-client', limitMinutes: 15 },
  { name: 'browser', command: 'make browser', limitMinutes: 15 },
  { name: 'beside', command: 'make beside', limitMinutes: 30 },
  { name: 'faults', command: 'make faults MINUTES=30', limitMinutes: 90 },
  // The page of the run with one broker, which names its faults, stays.
  { name: 'faults-brokers', command: 'unset REPORT; make faults BROKERS=3 MINUTES=10', limitMinutes: 40 },
  // Two releases side by side, while things break; the page is that of this code alone.
  { name: 'faults-beside', command: 'unset REPORT; make faults BESIDE=1 MINUTES=5', limitMinutes: 30 },
  // docs/security.md is generated from what these two record.
  { name: 'attacks', command: 'make attacks && npm run --silent docs', limitMinutes: 20 },
  { name: 'fuzz', command: 'make fuzz MINUTES=10 && npm run --silent docs', limitMinutes: 35 },
  {
    name: 'bench',
    // A system that was running may be of older code; the one that is measured is stopped at the limit too.
    command: `trap 'make down' EXIT; trap 'exit 143' TERM; make down && make bench`,
    limitMinutes: 240,
    needs: ['python3'],
  },
];
