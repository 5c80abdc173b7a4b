import { join } from 'node:path';
import { ensureApiKey } from './api-key.ts';
import { signInAddress } from './console.ts';
import { stopAll } from './down.ts';
import { installMissing } from './host-programs.ts';
import { addressesOf, ensureInfrastructure } from './infrastructure.ts';
import type { Infrastructure } from './infrastructure.ts';
import { announceObservation, ensureObservation } from './observe.ts';
import { readEnvFile, writeEnvFile } from './secrets.ts';
import { databasePasswords } from './service-environment.ts';
import { ensureServices, wantedServices } from './services.ts';
import { say, urlOf } from './settings.ts';
import type { Settings } from './settings.ts';

export type Variables = Record<string, string>;

const envFile = (settings: Settings) => join(settings.localDir, 'env');

/** Only what the services stand on; the env file then holds its addresses. */
export async function startInfrastructure(settings: Settings, env: NodeJS.ProcessEnv): Promise<void> {
  const infrastructure = await bringUpInfrastructure(settings, env);
  writeEnvFile(envFile(settings), { ...readEnvFile(envFile(settings)), ...addressesOf(infrastructure) });
}

/** The whole system; the env file then holds everything that a caller of it needs. */
export async function startSystem(settings: Settings, env: NodeJS.ProcessEnv): Promise<void> {
  const { infrastructure, variables } = await bringUpSystem(settings, env);
  writeEnvFile(envFile(settings), { ...variables, ...addressesOf(infrastructure) });
  if (settings.observe) announceObservation(settings);
  say('system', `${urlOf(settings, 'gateway')} (addresses and API key are in ${envFile(settings)})`);
  const { BASE_URL = '', ADMIN_URL = '', ADMIN_TOKEN = '', API_KEY = '' } = variables;
  const access = { baseUrl: BASE_URL, adminUrl: ADMIN_URL, adminToken: ADMIN_TOKEN };
  if (API_KEY !== '') say('console', (await signInAddress(access, API_KEY)) ?? `${BASE_URL}/console/`);
}

export async function bringUpInfrastructure(settings: Settings, env: NodeJS.ProcessEnv): Promise<Infrastructure> {
  return ensureInfrastructure(settings, env, databasePasswords);
}

/** For one run of a suite: when not all of it starts, what has started is stopped. */
export async function bringUpForRun(settings: Settings): Promise<Infrastructure> {
  try {
    return await bringUpInfrastructure(settings, {});
  } catch (error) {
    await stopAll(settings);
    throw error;
  }
}

/** Returns the infrastructure and, under the names callers know, the addresses and keys of the system on it. */
export async function bringUpSystem(
  settings: Settings,
  env: NodeJS.ProcessEnv,
): Promise<{ infrastructure: Infrastructure; variables: Variables }> {
  const services = wantedServices(env, settings);
  if (services.includes('inference')) installMissing(['ffmpeg', 'bwrap']);
  const infrastructure = await bringUpInfrastructure(settings, env);
  if (settings.observe) await ensureObservation(settings);
  const started = await ensureServices({ settings, infrastructure, env }, services);
  const gateway = {
    url: urlOf(settings, 'gateway'),
    adminUrl: urlOf(settings, 'admin'),
    adminToken: infrastructure.secrets.ADMIN_TOKEN,
  };
  const variables = {
    BASE_URL: gateway.url,
    ...(started.includes('gateway') ? { API_KEY: await ensureApiKey(settings, gateway) } : {}),
    ADMIN_URL: gateway.adminUrl,
    ADMIN_TOKEN: gateway.adminToken,
    INFERENCE_URL: env['INFERENCE_URL'] || urlOf(settings, 'inference'),
    ...(settings.observe ? observedAt(settings) : {}),
  };
  return { infrastructure, variables };
}

/** Where the traces and the metrics of this copy are. */
const observedAt = (settings: Settings) => ({
  TRACES_URL: `${urlOf(settings, 'traces')}/zipkin`,
  PROMETHEUS_URL: urlOf(settings, 'prometheus'),
});
