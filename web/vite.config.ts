import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The pages are served from the root by the binary, under a policy that allows neither inline scripts nor inline styles
// nor data in place of a file: nothing is inlined. Names of assets hold the hash of their content and never change theirs.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: '../internal/web/dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    reportCompressedSize: true,
    license: { fileName: 'LICENSES.md' },
  },
  worker: { format: 'es' },
  server: {
    proxy: Object.fromEntries(
      ['/web', '/spot', '/wallet/v', '/account/v', '/info', '/icons', '/docs', '/dev'].map((path) => [
        path,
        { target: 'http://127.0.0.1:8080', ws: true },
      ]),
    ),
  },
});
