// SPDX-License-Identifier: Apache-2.0
/// <reference types="vite/client" />
declare module 'virtual:notices' {
  const notices: { name: string; version: string; licence: string; text: string }[];
  export default notices;
}
