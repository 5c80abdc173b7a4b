declare module 'kafkajs/src/network/requestQueue/index.js' {
  const RequestQueue: {
    prototype: { pending: unknown[]; scheduleCheckPendingRequests: () => void };
  };
  export default RequestQueue;
}
