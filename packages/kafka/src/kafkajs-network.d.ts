declare module 'kafkajs/src/network/requestQueue/index.js' {
  import type { EventEmitter } from 'node:events';

  export interface SocketRequest {
    /** Called when no answer came in time, before the request is rejected. */
    timeoutHandler: () => void;
    entry: { apiName: string };
  }

  export interface Queue extends EventEmitter {
    pending: unknown[];
    scheduleCheckPendingRequests: () => void;
    createSocketRequest: (this: Queue, pushed: unknown) => SocketRequest;
  }

  const RequestQueue: { prototype: Queue };
  export default RequestQueue;
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';
  import type { Queue } from 'kafkajs/src/network/requestQueue/index.js';

  export interface Connection {
    requestQueue: Queue;
    socket: Socket | undefined;
    connect: (this: Connection) => Promise<boolean>;
    disconnect: () => Promise<boolean>;
  }

  const connection: { prototype: Connection };
  export default connection;
}

declare module 'kafkajs/src/broker/saslAuthenticator/index.js' {
  import type { Connection } from 'kafkajs/src/network/connection.js';

  interface SaslAuthenticator {
    connection: Connection;
    authenticate: (this: SaslAuthenticator) => Promise<void>;
  }

  const authenticator: { prototype: SaslAuthenticator };
  export default authenticator;
}
