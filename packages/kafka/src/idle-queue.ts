import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * Lets the connections of kafkajs rest. Version 2.2.4 looks again for requests that wait for their turn after every
 * answer, with a delay that is negative unless the broker throttles: Node makes that 1 ms, so every connection wakes
 * its process a thousand times a second, for ever. Only requests that do wait are a reason to look again. Importing
 * this is enough.
 */
const { prototype } = RequestQueue;
const scheduleCheck = prototype.scheduleCheckPendingRequests;
prototype.scheduleCheckPendingRequests = function scheduleWhenSomethingWaits() {
  if (this.pending.length > 0) scheduleCheck.call(this);
};
