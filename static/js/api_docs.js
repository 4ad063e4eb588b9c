// Opens Swagger's page on our description of the API.

const place = document.getElementById("swagger-ui");

window.SwaggerUIBundle({
    url: place.dataset.openapi,
    domNode: place,
    presets: [window.SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    deepLinking: true,
    // The badge would ask another server.
    validatorUrl: null,
});
