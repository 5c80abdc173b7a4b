import { startTelemetry } from '@vision/shared/telemetry';
import { maskKeys } from './domain/mask-keys.ts';

startTelemetry({ name: 'gateway', edge: { maskPath: maskKeys } });
