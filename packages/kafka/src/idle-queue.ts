import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * Stops kafkajs from polling on idle connections. After every response, version 2.2.4 schedules a check for pending
 * requests, with a delay that is negative unless the broker throttles. Node makes that 1 ms, so every connection wakes
 * its process a thousand times a second without end. This patch schedules the check only while requests are pending.
 * Importing this file applies it.
 */
const { prototype } = RequestQueue;
const scheduleCheck = prototype.scheduleCheckPendingRequests;
prototype.scheduleCheckPendingRequests = function scheduleWhenSomethingWaits() {
  if (this.pending.length > 0) scheduleCheck.call(this);
};
