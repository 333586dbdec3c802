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

/**
 * Draws the operations. Runs in the browser, as text: it uses nothing outside of itself but the bundle of Swagger UI.
 * @param document the OpenAPI document
 */
function startSwaggerUi(
  document: object,
  resolver: typeof resolveSubtree,
  SwaggerUIBundle: SwaggerUi,
  SwaggerUIStandalonePreset: unknown,
): void {
  // The document is JSON, which Swagger UI would read as YAML, for several hundred milliseconds.
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
  // The events are as many as the operations, and would be drawn before the page answers.
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
    // Hundreds of schemas below the operations would be drawn before the page answers.
    defaultModelsExpandDepth: -1,
    syntaxHighlight: false,
    plugins: [{ fn: { resolveSubtree: resolver } }, readsJson, drawsWebhooksWhenOpened],
  });
}

/**
 * Returns the script that starts Swagger UI. The document is a string in it, because a browser reads a string faster than an
 * object.
 */
export function swaggerUiScript(document: OpenAPIObject): string {
  const json = JSON.stringify(JSON.stringify(document));
  return `window.onload = () => (${startSwaggerUi.toString()})(
    JSON.parse(${json}), ${resolveSubtree.toString()}, SwaggerUIBundle, SwaggerUIStandalonePreset);`;
}
