import type { components, operations } from './public-api.ts';

type Schemas = components['schemas'];
export type Task = Schemas['Task'];
export type TaskStatus = Schemas['TaskStatus'];
export type ResultFrame = Schemas['ResultFrame'];
export type Event = Schemas['Event'];
export type Alarm = Schemas['Alarm'];
export type AlarmRule = Schemas['AlarmRule'];
export type Track = Schemas['Track'];
export type ImageDetection = Schemas['ImageDetection'];
export type Scene = Schemas['Scene'];
export type Usage = Schemas['Usage'];
export type NewStreamTask = Schemas['NewStreamTask'];

export type QueryOf<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;
