/**
 * The order of test files: by name; before all others those that the others build on, after all others those that look
 * at what they have left.
 */
export default class FirstAndLast {
  sort(tests) {
    return [...tests].sort((a, b) => rankOf(a) - rankOf(b) || a.path.localeCompare(b.path));
  }

  shard(tests) {
    return tests;
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}

function rankOf({ path }) {
  if (path.includes('-at-the-start.')) return -1;
  return path.includes('-at-the-end.') ? 1 : 0;
}
