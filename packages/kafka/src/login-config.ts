import { z } from 'zod';
import { ConfigError } from '@vision/shared/config';
import { isLoopbackName } from '@vision/shared/net/loopback-name';
import { certificateFile } from '@vision/shared/pem-file';
import type { KafkaLogin } from './kafka.ts';
import { fetchToken, TOKEN_MS } from './oauth/fetch-token.ts';
import type { OauthLogin } from './oauth/oauth-mechanism.ts';
import { createTokenSource, MIN_LEFT_MS } from './oauth/token-source.ts';
import type { TokenSource } from './oauth/token-source.ts';
import { REAUTHENTICATE_MS } from './reauthentication.ts';

/** The secret of the client goes there, so it has to be encrypted on its way. */
const tokenUrl = z
  .url({ protocol: /^https?$/ })
  .refine(
    (text) => URL.canParse(text) && isSafe(new URL(text)),
    'https:// (or http:// on a loopback address), without user and password',
  );

const isSafe = ({ protocol, hostname, username, password }: URL) =>
  (protocol === 'https:' || isLoopbackName(hostname)) && username === '' && password === '';

/** How a process proves to the brokers who it is. */
export const loginConfig = {
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'])
    .optional()
    .describe('SASL mechanism; no login if absent'),
  KAFKA_USERNAME: z.string().optional().describe('SASL user name'),
  KAFKA_PASSWORD: z.string().optional().describe('SASL password'),
  KAFKA_OAUTH_TOKEN_URL: tokenUrl
    .optional()
    .describe('Address of the token server (https) that gives tokens for oauthbearer'),
  KAFKA_OAUTH_CLIENT_ID: z.string().optional().describe('Client id at the token server'),
  KAFKA_OAUTH_CLIENT_SECRET: z.string().optional().describe('Client secret at the token server'),
  KAFKA_OAUTH_SCOPE: z.string().optional().describe('Scope that tokens are requested for; none if absent'),
  KAFKA_OAUTH_CA_FILE: certificateFile
    .optional()
    .describe('PEM file with the certificate authorities for the token server, instead of those of Node.js'),
};

type LoginConfig = z.output<z.ZodObject<typeof loginConfig>>;

/** The login of the settings; undefined for none. @throws ConfigError when settings do not go together. */
export function loginOf(config: LoginConfig): KafkaLogin | undefined {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_USERNAME: username, KAFKA_PASSWORD: password } = config;
  if (mechanism === 'oauthbearer') {
    if ((username ?? password) !== undefined)
      throw new ConfigError('KAFKA_USERNAME and KAFKA_PASSWORD are not for KAFKA_SASL_MECHANISM=oauthbearer');
    return { mechanism, ...oauthOf(config) };
  }
  if (Object.entries(config).some(([name, value]) => name.startsWith('KAFKA_OAUTH_') && value !== undefined))
    throw new ConfigError('KAFKA_OAUTH_… are for KAFKA_SASL_MECHANISM=oauthbearer');
  if (mechanism === undefined) {
    if ((username ?? password) === undefined) return undefined;
    throw new ConfigError('KAFKA_USERNAME and KAFKA_PASSWORD are for a KAFKA_SASL_MECHANISM, which is missing');
  }
  if (username === undefined || password === undefined)
    throw new ConfigError(`KAFKA_SASL_MECHANISM=${mechanism} also needs KAFKA_USERNAME and KAFKA_PASSWORD`);
  return { mechanism, username, password };
}

/** The start check and the service share one token, and the pauses after a failure. */
const sources = new WeakMap<LoginConfig, TokenSource>();

function oauthOf(config: LoginConfig): Omit<OauthLogin, 'mechanism'> {
  const { KAFKA_OAUTH_TOKEN_URL: url, KAFKA_OAUTH_CLIENT_ID: clientId, KAFKA_OAUTH_CLIENT_SECRET: secret } = config;
  if (url === undefined || clientId === undefined || secret === undefined)
    throw new ConfigError(
      'KAFKA_SASL_MECHANISM=oauthbearer also needs KAFKA_OAUTH_TOKEN_URL, KAFKA_OAUTH_CLIENT_ID and ' +
        'KAFKA_OAUTH_CLIENT_SECRET',
    );
  const { KAFKA_OAUTH_SCOPE: scope, KAFKA_OAUTH_CA_FILE: caFile } = config;
  const client = { tokenUrl: url, clientId, clientSecret: secret, scope, caFile };
  const tokens = sources.get(config) ?? createTokenSource(() => fetchToken(client, TOKEN_MS), MIN_LEFT_MS);
  sources.set(config, tokens);
  return { clientId, tokens, reauthenticateMs: REAUTHENTICATE_MS };
}
