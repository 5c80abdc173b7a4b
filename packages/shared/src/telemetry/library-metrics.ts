import { buckets } from './buckets.ts';
import { counter, gauge, histogram } from './metric.ts';

/** Metrics that libraries make. They are named here for the document; their instruments are the libraries' own. */
export const libraryMetrics = {
  httpServer: histogram('http.server.request.duration', {
    meaning: 'Requests that a listener of this process answered, those for probes left out',
    labels: {
      'http.request.method': 'the method, `_OTHER` for one that is none',
      'http.route': 'as the code declares it; absent when none was reached',
      'http.response.status_code': 'the status',
      'url.scheme': '`http`',
      'network.protocol.version': 'of HTTP',
      'error.type': 'of a failed request: its status, or the name of an error',
    },
    buckets: buckets.request,
  }),
};

const delay = (which: string) =>
  gauge(`nodejs.eventloop.delay.${which}`, {
    unit: 's',
    meaning: `How long the event loop took between two looks 10 ms apart, since the last reading: ${which}`,
  });

const space = { 'v8js.heap.space.name': 'of V8' };

/** Metrics of the runtime. */
export const runtimeMetrics = {
  delayMin: delay('min'),
  delayMax: delay('max'),
  delayMean: delay('mean'),
  delayStddev: delay('stddev'),
  delayP50: delay('p50'),
  delayP90: delay('p90'),
  delayP99: delay('p99'),
  loopTime: counter('nodejs.eventloop.time', {
    unit: 's',
    meaning: 'Time that the event loop was in each state',
    labels: { 'nodejs.eventloop.state': ['active', 'idle'] },
  }),
  utilization: gauge('nodejs.eventloop.utilization', {
    unit: '1',
    meaning: 'Share of its time that the event loop was busy, since the last reading',
  }),
  gc: histogram('v8js.gc.duration', {
    meaning: 'Pauses for garbage collection',
    labels: { 'v8js.gc.type': ['major', 'minor', 'incremental', 'weakcb'] },
    // The library sets them.
    buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
  }),
  heapUsed: gauge('v8js.memory.heap.used', { unit: 'By', meaning: 'Used heap', labels: space }),
  heapSize: gauge('v8js.memory.heap.space.size', {
    unit: 'By',
    meaning: 'Size of each part of the heap',
    labels: space,
  }),
  heapAvailable: gauge('v8js.memory.heap.space.available_size', {
    unit: 'By',
    meaning: 'Room in each part of the heap',
    labels: space,
  }),
  heapPhysical: gauge('v8js.memory.heap.space.physical_size', {
    unit: 'By',
    meaning: 'Memory that each part of the heap takes',
    labels: space,
  }),
  resources: gauge('v8js.resource.active', {
    meaning: 'Resources that keep the event loop alive, as sockets and timers',
    labels: { 'v8js.resource.type': 'of Node.js' },
  }),
};
