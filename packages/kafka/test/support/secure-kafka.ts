import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stopProgram } from '../../../../deploy/local/background.ts';
import { ensureKafka } from '../../../../deploy/local/kafka.ts';
import { offsets, readSettings } from '../../../../deploy/local/settings.ts';
import type { Settings } from '../../../../deploy/local/settings.ts';
import { startFaultProxy } from '@vision/shared/testing/fault-proxy';
import type { FaultProxy } from '@vision/shared/testing/fault-proxy';
import { makeCertificates } from '@vision/shared/testing/made-certificates';
import type { MadeCertificates } from '@vision/shared/testing/made-certificates';
import { freePort } from '@vision/shared/testing/ports';

export interface SecureKafka {
  /** `127.0.0.1:port` of each listener. */
  plaintext: string;
  /** SASL over TLS. */
  login: string;
  /** SASL by tokens over TLS; connections end with their tokens. */
  oauth: string;
  /** TLS that asks for a certificate of the client. */
  mutual: string;
  /** In the clear, through a proxy. */
  proxied: { brokers: string[]; proxy: FaultProxy };
  certificates: MadeCertificates;
  /** Of another authority. */
  strangers: MadeCertificates;
  user: { name: string; password: string };
  /** For files of a test. */
  dir: string;
  stop: () => Promise<void>;
}

/** A broker of its own with the listeners that managed brokers have. */
export async function startSecureKafka(): Promise<SecureKafka> {
  const dir = mkdtempSync(join(tmpdir(), 'vision-secure-kafka-'));
  const certificates = makeCertificates(join(dir, 'certificates'));
  const user = { name: 'vision', password: 'p@ss:w0rd/+%' };
  const plaintext = await freePairOfPorts();
  const login = await freePort();
  const oauth = await freePort();
  const mutual = await freePort();
  const behind = await freePort();
  const proxy = await startFaultProxy({ host: '127.0.0.1', port: behind });
  const settings: Settings = {
    ...readSettings(),
    localDir: dir,
    // The port of the broker is counted from here.
    portBase: plaintext - offsets.kafka,
    kafka: {
      listeners: [
        { name: 'LOGIN', port: login, advertisedPort: login, protocol: 'SASL_SSL' },
        { name: 'OAUTH', port: oauth, advertisedPort: oauth, protocol: 'SASL_SSL' },
        { name: 'MUTUAL', port: mutual, advertisedPort: mutual, protocol: 'SSL' },
        { name: 'PROXIED', port: behind, advertisedPort: proxy.port },
      ],
      properties: propertiesOf(certificates, user, join(dir, 'keystore.pem')),
      users: [user],
    },
  };
  await ensureKafka(settings);
  return {
    plaintext: `127.0.0.1:${plaintext}`,
    login: `127.0.0.1:${login}`,
    oauth: `127.0.0.1:${oauth}`,
    mutual: `127.0.0.1:${mutual}`,
    proxied: { brokers: [`127.0.0.1:${proxy.port}`], proxy },
    certificates,
    strangers: makeCertificates(join(dir, 'strangers')),
    user,
    dir,
    stop: async () => {
      await proxy.close();
      await stopProgram(settings, 'kafka', 'SIGKILL', 5_000);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The controller listens one port above the broker. */
async function freePairOfPorts(): Promise<number> {
  let port = await freePort();
  for (;;) {
    // Both ports are reserved, so that no other code in this process gets the second one.
    const next = await freePort();
    if (next === port + 1) return port;
    port = next;
  }
}

function propertiesOf({ ca, server }: MadeCertificates, user: SecureKafka['user'], keystore: string) {
  writeFileSync(keystore, `${readFileSync(server.key, 'utf8')}${readFileSync(server.cert, 'utf8')}`);
  const module = (name: string) => `org.apache.kafka.common.security.${name}LoginModule required`;
  return {
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keystore,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': ca,
    'listener.name.mutual.ssl.client.auth': 'required',
    // Without its own handler the broker accepts unsigned tokens, and checks their dates.
    'listener.name.oauth.sasl.enabled.mechanisms': 'OAUTHBEARER',
    'listener.name.oauth.oauthbearer.sasl.jaas.config': `${module('oauthbearer.OAuthBearer')};`,
    'listener.name.oauth.oauthbearer.connections.max.reauth.ms': '3600000',
    'listener.name.login.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.login.plain.sasl.jaas.config': `${module('plain.Plain')} user_${user.name}="${user.password}";`,
    'listener.name.login.scram-sha-256.sasl.jaas.config': `${module('scram.Scram')};`,
    'listener.name.login.scram-sha-512.sasl.jaas.config': `${module('scram.Scram')};`,
  };
}
