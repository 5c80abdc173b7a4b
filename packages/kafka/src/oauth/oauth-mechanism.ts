import type { Mechanism } from 'kafkajs';
import { rootMessage, wrong } from '@vision/shared/start/fault';
import { LoginError } from './login-error.ts';
import type { TokenSource } from './token-source.ts';

export interface OauthLogin {
  mechanism: 'oauthbearer';
  clientId: string;
  tokens: TokenSource;
  /** How long before the end of its session a connection logs in again. */
  reauthenticateMs: number;
}

const SEPARATOR = '\u0001';

/**
 * The login of RFC 7628. The one of kafkajs (2.2.4) takes a refused token for accepted: brokers answer it with a
 * reason and wait for one more message, and the next request would be met by a closed connection without a word.
 */
export function oauthMechanism({ clientId, tokens }: OauthLogin): Mechanism {
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: ({ logger, saslAuthenticate }) => {
      const send = async (text: string) =>
        (await saslAuthenticate({ request: requestOf(text), response })) ?? Buffer.alloc(0);
      return {
        authenticate: async () => {
          const token = await tokens.get((message, facts) => logger.warn(message, facts));
          let reason = '';
          try {
            reason = textOf(await send(`n,,${SEPARATOR}auth=Bearer ${token}${SEPARATOR}${SEPARATOR}`));
            if (reason === '') return;
            // The broker fails the login when it gets this, and closes the connection.
            await send(SEPARATOR);
          } catch (error) {
            if (!isRefusal(error)) throw error;
            reason ||= rootMessage(error);
          }
          tokens.discard(token);
          throw new LoginError(
            wrong(
              `The brokers refuse the token of KAFKA_OAUTH_CLIENT_ID=${clientId} (${reason.slice(0, 200)}): they have ` +
                'to know its issuer, and KAFKA_OAUTH_SCOPE has to be what they ask for',
            ),
          );
        },
      };
    },
  };
}

const isRefusal = (error: unknown) => (error as { type?: string }).type === 'SASL_AUTHENTICATION_FAILED';

/** Bytes of the protocol begin with their length. */
const requestOf = (text: string) => ({
  encode: () => {
    const bytes = Buffer.alloc(4 + Buffer.byteLength(text));
    bytes.writeInt32BE(bytes.length - 4);
    bytes.write(text, 4);
    return bytes;
  },
});

const response = { decode: (raw: Buffer) => raw, parse: (raw: Buffer) => raw };

/** What a broker answers is empty, or an error as JSON. */
const textOf = (raw: Buffer) =>
  raw
    .subarray(4)
    .toString('utf8')
    .replaceAll(/[^\x20-\x7e]/g, ' ')
    .trim();
