import type { OpenAPIObject } from '@nestjs/swagger';
import { resolveSubtree } from './resolve-subtree';

/** The part of Swagger UI's plugin interface that {@link startSwaggerUi} uses. */
interface System {
  readonly React: {
    readonly createElement: (type: unknown, ...rest: unknown[]) => unknown;
    readonly useState: (initial: boolean) => readonly [boolean, (value: boolean) => void];
  };
  readonly specActions: { readonly updateJsonSpec: (document: unknown) => unknown };
  readonly specSelectors: { readonly specStr: () => string };
}

type SwaggerUi = ((options: object) => unknown) & {
  readonly presets: { readonly apis: unknown };
};

/** Starts Swagger UI in the browser. The browser gets this function as text, so it uses nothing but its parameters. */
function startSwaggerUi(
  document: object,
  resolver: typeof resolveSubtree,
  SwaggerUIBundle: SwaggerUi,
  SwaggerUIStandalonePreset: unknown,
): void {
  // Parses the document as JSON. Swagger UI would parse it as YAML, which takes several hundred milliseconds.
  const readsJson = {
    statePlugins: {
      spec: {
        wrapActions: {
          parseToJson:
            (_readsYaml: unknown, { specActions, specSelectors }: System) =>
            () =>
              specActions.updateJsonSpec(JSON.parse(specSelectors.specStr())),
        },
      },
    },
  };
  // Draws the list of webhook events only when the user opens it. There are as many events as operations, and the page
  // would not respond until all of them are drawn.
  const drawsWebhooksWhenOpened = {
    wrapComponents: {
      Webhooks: (Webhooks: unknown, { React }: System) =>
        function WebhooksOnRequest(props: object) {
          const [isOpen, setOpen] = React.useState(false);
          if (isOpen) return React.createElement(Webhooks, props);
          const open = { className: 'btn', onClick: () => setOpen(true) };
          return React.createElement('button', open, 'Show the events that webhooks receive');
        },
    },
  };
  SwaggerUIBundle({
    spec: document,
    dom_id: '#swagger-ui',
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: 'StandaloneLayout',
    deepLinking: true,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    filter: true,
    // Leaves out the hundreds of schemas below the operations: the page would not respond until all are drawn.
    defaultModelsExpandDepth: -1,
    syntaxHighlight: false,
    plugins: [{ fn: { resolveSubtree: resolver } }, readsJson, drawsWebhooksWhenOpened],
  });
}

/**
 * Returns the script of the Swagger UI page. The script contains the document as a JSON string, because browsers parse
 * a string faster than an object literal.
 */
export function swaggerUiScript(document: OpenAPIObject): string {
  const json = JSON.stringify(JSON.stringify(document));
  return `window.onload = () => (${startSwaggerUi.toString()})(
    JSON.parse(${json}), ${resolveSubtree.toString()}, SwaggerUIBundle, SwaggerUIStandalonePreset);`;
}
