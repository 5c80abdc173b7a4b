import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { recentTimeouts } from '@vision/shared/upstream/recent-timeouts';

const UNANSWERED = 'vision.unanswered';

/**
 * Ends a connection of kafkajs whose request got no answer in time. Version 2.2.4 rejects the request and keeps the
 * socket: when a broker vanished without a reset, every retry goes to the same dead socket until TCP gives it up, which
 * takes a quarter of an hour. Importing this is enough.
 */
const { createSocketRequest } = RequestQueue.prototype;
RequestQueue.prototype.createSocketRequest = function endingTheConnection(pushed) {
  const request = createSocketRequest.call(this, pushed);
  const { timeoutHandler } = request;
  request.timeoutHandler = () => {
    timeoutHandler();
    // Consumers ask without `callUpstream`.
    recentTimeouts.note({ upstream: 'kafka', operation: request.entry.apiName, outcome: 'total_timeout' });
    this.emit(UNANSWERED);
  };
  return request;
};

const { connect } = Connection.prototype;
Connection.prototype.connect = function listening() {
  if (this.requestQueue.listenerCount(UNANSWERED) === 0) {
    // An error, as from a reset: the library rejects what waits on this connection and opens another one.
    this.requestQueue.on(UNANSWERED, () => this.socket?.destroy(new Error('a request got no answer in time')));
  }
  return connect.call(this);
};
