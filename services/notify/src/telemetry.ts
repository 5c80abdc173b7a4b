import { startTelemetry } from '@vision/shared/telemetry';

startTelemetry({ name: 'notify' });
