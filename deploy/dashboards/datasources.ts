/** The stores that panels ask, as variables of a dashboard. */
export const PROMETHEUS = { type: 'prometheus', uid: '${datasource}' };
export const STORES = { traces: { type: 'tempo', uid: '${traces}' }, logs: { type: 'loki', uid: '${logs}' } };
