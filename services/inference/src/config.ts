import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { count, loadConfig, serviceConfig } from '@vision/shared/config';
import { jobsConfig } from './jobs/jobs-config.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

export const configSchema = z.object({
  ...serviceConfig,
  SCENES_FILE: z
    .string()
    .default(path('../../../config/scenes.json'))
    .describe('Registry of scenes and their detectors'),
  MODELS_DIR: z.string().default(path('../models')).describe('Directory of the ONNX files that the registry names'),
  INFERENCE_TOKEN: z.string().min(16).optional().describe('Bearer token that callers must send; none when absent'),
  DETECT_THREADS: z.coerce
    .number()
    .int()
    .min(0)
    .max(256)
    .default(0)
    .describe('Threads that detect, one picture each at a time; 0 is one for each core'),
  DETECT_INTRA_OP_THREADS: count(1).describe('Threads that ONNX Runtime uses for one picture'),
  DETECT_QUEUE: count(32).describe('Pictures that may wait beyond those being worked on; further ones are turned away'),
  ...jobsConfig,
});

export type Config = z.output<typeof configSchema>;

export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  return loadConfig(configSchema, env);
}
