import { sample } from "openapi-sampler";
import { escapeHtml, slugOf } from "./html.ts";

/** The parts of OpenAPI 3.1 that the service's document uses. */
export interface OpenApiDocument {
  readonly info: { readonly description?: string };
  readonly tags?: readonly Tag[];
  readonly paths?: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components?: Components;
}

interface Components {
  readonly schemas?: { readonly [name: string]: Schema };
}

interface Tag {
  readonly name: string;
  readonly description?: string;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly { readonly token?: readonly string[] }[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses?: { readonly [status: string]: Response };
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly description?: string;
  readonly schema: Schema;
}

interface Response {
  readonly description: string;
  readonly content?: Content;
}

type Content = { readonly [mediaType: string]: { readonly schema: Schema } };

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: boolean | Schema;
}

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly description: string;
}

/** An OpenAPI document as HTML: the operations of each tag, then the schemas that they share. */
export function openApiHtml({
  info,
  tags = [],
  paths = {},
  components = {},
}: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0],
      html: operationHtml(`${method} ${path}`, operation, components),
    })),
  );
  const groups = tags.map((tag) => {
    const own = operations.filter((operation) => operation.tag === tag.name);
    return groupHtml(tag, own.map(({ html }) => html).join("\n"));
  });
  const schemas = Object.entries(components.schemas ?? {}).map(([name, schema]) =>
    schemaHtml(name, schema),
  );
  const shared = groupHtml({ name: "schemas" }, schemas.join("\n"));
  const paragraphs = (info.description ?? "")
    .split("\n\n")
    .map((text) => `<p>${inlineHtml(text)}</p>`);
  return [...paragraphs, ...groups, shared].join("\n");
}

function groupHtml({ name, description = "" }: Tag, html: string): string {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const about = description === "" ? "" : `<p>${inlineHtml(description)}</p>`;
  return `<h2 id="${slugOf(name)}">${title}</h2>${about}${html}`;
}

function operationHtml(route: string, operation: Operation, components: Components): string {
  const [method = "", path = ""] = route.split(" ");
  const { operationId, summary = "", description, parameters = [], requestBody } = operation;
  const { responses = {} } = operation;
  const scope = operation.security?.[0]?.token?.[0];
  const access = scope === undefined ? "Public." : `Needs the scope <code>${scope}</code>.`;
  const body = Object.values(requestBody?.content ?? {})[0]?.schema;
  return `<details class="operation">
<summary><h3 id="${operationId}"><b class="operation-method method-${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> <span>${inlineHtml(summary)}</span></h3></summary>
<div class="operation-body">
<p>${description === undefined ? "" : `${inlineHtml(description)} `}${access}</p>
${rowsHtml("Parameters", parameters.map(parameterRow))}
${body === undefined ? "" : rowsHtml("Body", fieldRows(body))}
${body === undefined ? "" : exampleHtml("the body", sampleOf(body, components), "code-block")}
<h4>Answers</h4>${tableHtml(Object.entries(responses).map(responseCells))}
${answerExamples(responses, components)}
</div></details>`;
}

function parameterRow({ name, description, schema }: Parameter): Row {
  return { name, schema, description: description ?? schema.description ?? "" };
}

function responseCells([status, { description, content = {} }]: [string, Response]): string[] {
  const types = answerTypes(content).map(typeHtml);
  return [`<code>${status}</code>`, types.join(", "), inlineHtml(description)];
}

/** The schemas other than problems, which all look alike. */
function answerTypes(content: Content): Schema[] {
  return Object.entries(content)
    .filter(([mediaType]) => mediaType !== "application/problem+json")
    .map(([, { schema }]) => schema);
}

/** A value that a schema accepts, of the examples and types of its fields. */
export function sampleOf(schema: Schema, components: Components): unknown {
  return sample({ ...schema } as object, { quiet: true }, { components });
}

/** Answers that look alike are shown once. */
function answerExamples(
  responses: NonNullable<Operation["responses"]>,
  components: Components,
): string {
  const samples = Object.entries(responses).flatMap(([status, { content = {} }]) =>
    answerTypes(content).map((schema) => ({ status, value: sampleOf(schema, components) })),
  );
  const alike = Map.groupBy(samples, ({ value }) => JSON.stringify(value));
  return [...alike.values()]
    .map((group) => exampleHtml(group.map(({ status }) => status).join(", "), group[0]?.value))
    .join("");
}

function exampleHtml(what: string, value: unknown, classes = "code-block output"): string {
  if (typeof value === "string") return "";
  const text = escapeHtml(JSON.stringify(value, null, 2));
  return `<h4>Example of ${what}</h4><pre class="${classes}" tabindex="0"><code>${text}</code></pre>`;
}

function schemaHtml(name: string, schema: Schema): string {
  return `<details class="operation">
<summary><h3 id="schema-${slugOf(name)}"><code>${escapeHtml(name)}</code> <span>${inlineHtml(schema.description ?? "")}</span></h3></summary>
<div class="operation-body">${rowsHtml("Fields", fieldRows(schema))}</div></details>`;
}

/** The fields of an object, those of objects inside of it as `outer.inner`. */
function fieldRows(schema: Schema, prefix = ""): Row[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const isOptional = !(schema.required ?? []).includes(name);
    const description = [field.description, isOptional ? "Optional." : ""].join(" ").trim();
    const row = { name: `${prefix}${name}`, schema: field, description };
    const inner = field.items?.properties ? field.items : field;
    const mark = field.items?.properties ? "[]" : "";
    return [row, ...fieldRows(inner, `${prefix}${name}${mark}.`)];
  });
}

function rowsHtml(title: string, rows: readonly Row[]): string {
  if (rows.length === 0) return "";
  const cells = rows.map(({ name, schema, description }) => [
    `<code>${escapeHtml(name)}</code>`,
    typeHtml(schema),
    inlineHtml(description) + defaultHtml(schema),
  ]);
  return `<h4>${title}</h4>${tableHtml(cells)}`;
}

function defaultHtml(schema: Schema): string {
  return schema.default === undefined
    ? ""
    : ` Default <code>${escapeHtml(JSON.stringify(schema.default))}</code>.`;
}

function tableHtml(rows: readonly (readonly string[])[]): string {
  const html = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table><tbody>${html.join("")}</tbody></table></div>`;
}

/** Describes a value's type in a few words. */
function typeHtml(schema: Schema): string {
  const { $ref, enum: values, items, format, type, additionalProperties } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1) ?? "";
    return `<a href="#schema-${slugOf(name)}">${escapeHtml(name)}</a>`;
  }
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (choices !== undefined) return choices.map(typeHtml).join(" or ");
  if (schema.const !== undefined) return codeHtml(schema.const);
  if (values !== undefined) return values.map(codeHtml).join(" ");
  if (items !== undefined) return `list of ${typeHtml(items)}`;
  if (typeof additionalProperties === "object") return `map to ${typeHtml(additionalProperties)}`;
  const names = typeof type === "string" ? [type] : (type ?? ["any"]);
  return escapeHtml(`${names.join(" or ")}${format === undefined ? "" : ` (${format})`}`);
}

function codeHtml(value: unknown): string {
  return `<code>${escapeHtml(typeof value === "string" ? value : JSON.stringify(value))}</code>`;
}

/** Text in which `backticks` mark code. */
function inlineHtml(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}
