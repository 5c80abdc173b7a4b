import type { Dispatcher } from 'undici';

/** How far an exchange has come. */
export interface Wire {
  /** The writing of the request was begun; refused connections, timeouts and TLS errors come before that. */
  begun: boolean;
  answered: boolean;
}

export const newWire = (): Wire => ({ begun: false, answered: false });

/** What a call waits for while its time runs out. */
export function phaseOf({ begun, answered }: Wire): 'connect_timeout' | 'headers_timeout' | 'body_timeout' {
  if (!begun) return 'connect_timeout';
  return answered ? 'body_timeout' : 'headers_timeout';
}

/** Notes on the wire how far the exchange of a client has come. */
export function noting(wire: Wire): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => {
        wire.begun = true;
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...seen) => handler.onRequestUpgrade?.(...seen),
      onResponseStart: (...seen) => {
        wire.answered = true;
        handler.onResponseStart?.(...seen);
      },
      onResponseData: (...seen) => handler.onResponseData?.(...seen),
      onResponseEnd: (...seen) => handler.onResponseEnd?.(...seen),
      onResponseError: (...seen) => handler.onResponseError?.(...seen),
    });
}
